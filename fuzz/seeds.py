#!/usr/bin/env python3
"""Makes the seeds from the vectors of mcp-state and the keys of mcp-auth."""

import base64
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
VECTORS = HERE.parent / "mcp-state" / "tests" / "vectors"
KEYS = HERE.parent / "mcp-auth" / "tests" / "keys"


def write(target, inputs):
    folder = HERE / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    for index, data in enumerate(inputs):
        (folder / f"{index:02}").write_bytes(data)


def main():
    tokens = json.loads((VECTORS / "state_tokens.json").read_text())
    identity = json.loads((VECTORS / "state_identity.json").read_text())
    boundary = json.loads((VECTORS / "state_boundary.json").read_text())
    short = [case["token"] for case in tokens["seal"] if len(case["token"]) < 500]
    refused = [case["token"] for case in tokens["reject"] if not case["name"].startswith("last char")]
    write("unseal", [token.encode() for token in short + refused])
    write("canonical", [case["arguments_json"].encode() for case in identity["arguments"]])
    params = [case["params_json"] for case in identity["requests"]]
    inputs = []
    for index, claims in enumerate(case["payload"] for case in boundary["forged_claims"]):
        mine, other = params[index % len(params)], params[(index + 1) % len(params)]
        state = boundary["envelopes"][index % 4]["state"]
        texts = [mine, other, state, claims.replace('"deploy"', '""'), "demo", "alice"]
        inputs.append(bytes([index]) + b"\xff".join(text.encode() for text in texts))
    write("boundary", inputs)
    write("decode", messages())
    write("jwt", jwts())
    write("envelope", (message.split(b"\n", 3)[3] for message in messages()))
    # One more header, and a request for the server that this target has.
    write("adapters", (with_a_parameter(message) for message in messages()))
    write("headers", (value.encode() for value in HEADERS))
    write("uri_template", (f"{template}\n{uri}".encode() for template, uri in TEMPLATES))
    write("sse", (text.encode() for text in TEXTS))


def with_a_parameter(message):
    version, method, name, body = message.split(b"\n", 3)
    for other in (b'"echo"', b'"add"', b'"test_simple_text"'):
        body = body.replace(b'"name":' + other, b'"name":"order"')
    return b"\n".join([version, method, name, b"", body])


HEADERS = [
    "application/json, text/event-stream",
    "application/json;q=0.9\ntext/*;q=0\n*/*",
    "Bearer t0ken",
    "Basic YWxpY2U6cGFzczp3b3Jk",
    "Bearer\nBasic Og==\nbearer  t0ken ",
    "=?base64?w6k=?=",
    "2026-07-28\ntools/call\n 2025-11-25 ",
    "application/json; charset=\"utf-8\"",
]

TEMPLATES = [
    ("file:///docs/{name}{?page}", "file:///docs/caf%C3%A9.txt?page=2"),
    ("{+dir}/{file}", "a/b/c"),
    ("x:y{;a,b}", "x:y;b=1;a=%2F"),
    ("{name}.{ext}", "a.tar.gz"),
    ("x{/a,b}{#c}", "x/1/2#3/4"),
    ("x{.a}?y=1{&b}", "x.z?y=1&b=%25"),
]

TEXTS = ["plain", "two\nlines", "\r\n\r\ndata: x\n\n", "\u2028 id: 1", "\0\x7f\ufeff", ": comment"]


def messages():
    """The golden requests of two revisions, below the three headers they came with."""
    names = ("mcp-protocol-version", "mcp-method", "mcp-name")
    for date in ("2025-06-18", "2026-07-28"):
        for path in sorted((HERE.parent / "tests" / "it" / "vectors" / date).rglob("success.json")):
            vector = json.loads(path.read_text())
            headers = {name.lower(): value for name, value in (vector.get("headers") or {}).items()}
            lines = [str(headers.get(name, "")) for name in names]
            yield "\n".join([*lines, vector["body"]]).encode()


def jwts():
    """Tokens whose every part is sound, but whose signature is over other claims; and keys."""
    for token in json.loads((KEYS / "tokens.json").read_text()).values():
        parts = [base64.urlsafe_b64decode(part + "==") for part in token.split(".")]
        parts[1] = json.dumps({**json.loads(parts[1]), "sub": "mallory", "jti": "forged"}).encode()
        yield b"\n".join(parts)
        encoded = [base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts]
        yield b".".join(encoded)
    for key in json.loads((KEYS / "jwks.json").read_text())["keys"]:
        yield json.dumps({"keys": [key]}).encode()


if __name__ == "__main__":
    main()
