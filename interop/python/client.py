"""The official Python SDK as client of the fixture server, one line for each check.

client.py --era legacy|modern|pinned --http|--stateless|--sse|--auth|--auth-sse URL
client.py --era legacy|modern|pinned --stdio PROGRAM

`legacy` is the handshake, `modern` asks by server/discover, `pinned` starts with the first call.
`--stateless` is a server without sessions, `--sse` the HTTP+SSE transport of 2024-11-05. `--auth`
and `--auth-sse` are servers that take tokens of `authorization_server.py`: there the checks are
about logging in.
"""

import argparse
import asyncio
import sys
import warnings

from mcp.shared.exceptions import MCPDeprecationWarning

import asking
import checks
import login
import sessions
from peer import Target

warnings.simplefilter("ignore", MCPDeprecationWarning)


async def run(target):
    """Runs every check and gives the number of those that failed."""
    failures = 0
    auth = target.transport.startswith("auth")
    if not auth:
        async with target.connect() as peer:
            for function in checks.CHECKS:
                failures += await one(function, peer)
    alone = login.CHECKS if auth else sessions.CHECKS + asking.CHECKS
    for function, when in alone:
        if when(target):
            failures += await one(function, target)
    return failures


async def one(function, subject):
    try:
        async with asyncio.timeout(15):
            await function(subject)
    except Exception as error:
        print(f"FAIL {function.__name__}: {root(error)}", flush=True)
        return 1
    print(f"ok {function.__name__}", flush=True)
    return 0


def root(error):
    """What is wrong, out of the groups that the tasks of a connection wrap it in, on one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(f"{type(error).__name__} {error}".split())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--era", choices=["legacy", "modern", "pinned"], required=True)
    ways = parser.add_mutually_exclusive_group(required=True)
    for transport in ("http", "stateless", "sse", "auth", "auth-sse", "stdio"):
        ways.add_argument(f"--{transport}", dest=transport)
    given = vars(parser.parse_args())
    era = given.pop("era")
    (transport, address), *_ = [pair for pair in given.items() if pair[1]]
    try:
        whole = asyncio.wait_for(run(Target(era, transport, address)), 120)
        failures = asyncio.run(whole)
    except Exception as error:  # a connection that never was, or broke
        print(f"FAIL connection: {root(error)}")
        failures = 1
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
