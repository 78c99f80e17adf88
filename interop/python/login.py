"""Logging in: from nothing, again, with more scopes, and who else gets in.

Each check connects anew."""

import asyncio
import contextlib
import secrets
from urllib.parse import urlsplit

import httpx2

from browser import Exchange, Person
from peer import LEGACY, same

CHECKS = []
USE, ALL = {"mcp:use"}, {"mcp:use", "files:write", "audit:log"}
WELL_KNOWN = "/.well-known/oauth-protected-resource"


def check(when):
    """A check of the targets that `when` holds for, which is its argument."""

    def register(function):
        CHECKS.append((function, when))
        return function

    return register


# req: auth-protected-resource-metadata, auth-metadata-discovery
# req: auth-2025-06-www-authenticate, auth-challenge-scope
@check(lambda target: True)
async def login(target):
    ada = Person("ada")
    async with connected(target, ada) as peer:
        same("echo" in await tools(peer), True, "echo is listed")
        same(await peer.text("echo", {"text": "x"}), "x")
    challenged(target, ada.seen[0])
    steps = [WELL_KNOWN, "/.well-known/oauth-authorization-server", "/register", "/token"]
    steps.append(urlsplit(target.address).path)
    for step, exchange in zip(steps, ada.seen[1:]):
        same(step in exchange.path, True, f"{step} is in {exchange!r}")
        same(exchange.status in (200, 201, 202), True, f"{exchange!r} went well")
    same(ada.asked, [USE], "authorizations")
    same([it for it in ada.seen[1:] if it.status == 401], [], "later refusals")


# req: auth-insufficient-scope-challenge, auth-2026-single-challenge
@check(lambda target: True)
async def step_up(target):
    ada = Person("ada")
    async with connected(target, ada) as peer:
        same(await peer.text("echo", {"text": "before"}), "before")
        same(ada.asked, [USE], "authorizations before")
        await write(peer)
        same(ada.asked, [USE, ALL], "authorizations")
        (refusal,) = [it for it in ada.seen if it.status == 403]
        same(refusal.challenge.get("error"), "insufficient_scope")
        same(refusal.challenge.scopes, ALL, "what the challenge names")
        same(refusal.challenge.get("resource_metadata"), metadata(target))
        await write(peer)
        same(await peer.text("echo", {"text": "after"}), "after")
        same(len(ada.asked), 2, "authorizations at the end")
    sessions = {it.session for it in ada.seen if it.session}
    same(len(sessions), 1 if target.named else 0, "sessions that a header names")


@check(lambda target: True)
async def step_up_among_others(target):
    ada = Person("ada")
    async with connected(target, ada) as peer:
        # The SDK logs in or steps up for a request, not both.
        await peer.text("echo", {"text": "before"})
        texts = [f"text {n}" for n in range(8)]
        echoes = [peer.text("echo", {"text": text}) for text in texts]
        answers = await asyncio.gather(write(peer), *echoes, write(peer))
        same(answers[1:-1], texts)
        same(ada.asked, [USE, ALL], "authorizations")


@check(lambda target: True)
async def refresh(target):
    ada = Person("ada", lifetime=2)
    async with connected(target, ada) as peer:
        before = await counted(peer, target)
        old = ada.tokens
        await asyncio.sleep(2.1)
        same(await counted(peer, target), before + 1, "the session goes on")
        same(ada.tokens.access_token != old.access_token, True, "the token is another one")
        same(ada.tokens.refresh_token != old.refresh_token, True, "as is the refresh token")
        same(ada.asked, [USE], "authorizations")


@check(lambda target: True)
async def step_up_lasts_through_refresh(target):
    ada = Person("ada", lifetime=2)
    async with connected(target, ada) as peer:
        await peer.text("echo", {"text": "before"})
        await write(peer)
        old = ada.tokens
        await asyncio.sleep(2.1)
        await write(peer)
        same(ada.tokens.access_token != old.access_token, True, "the token is another one")
        same(ada.asked, [USE, ALL], "authorizations")


@check(lambda target: True)
async def token_of_before(target):
    ada = Person("ada", token="no.such.token")
    async with connected(target, ada) as peer:
        same(await peer.text("echo", {"text": "x"}), "x")
    challenged(target, ada.seen[0], "invalid_token")
    same(ada.seen[0].bearer, True, "the client sent its token")
    same(ada.asked, [USE], "authorizations")


@check(lambda target: True)
async def url_client(target):
    ada = Person("ada", url_client=True)
    async with connected(target, ada) as peer:
        same(await peer.text("echo", {"text": "x"}), "x")
    same([it for it in ada.seen if "/register" in it.path], [], "registrations")
    same(ada.asked, [USE], "authorizations")


# req: security-session-not-authentication, auth-every-request
@check(lambda target: target.named)
async def session_of_another(target):
    ada, grace = Person("ada"), Person("grace")
    async with connected(target, ada) as peer, grace.http(target.address) as http:
        same(await peer.text("count"), "1")
        headers = {"Mcp-Session-Id": ada.session}
        for method, body in (("POST", LIST), ("POST", COUNT), ("GET", None), ("DELETE", None)):
            answer = await send(http, target, method, body, headers)
            same(answer.status_code, 404, f"{method} with her session")
            unknown = {"Mcp-Session-Id": secrets.token_urlsafe(24)}
            other = await send(http, target, method, body, unknown)
            same(answer.content, other.content, "what tells her session from an unknown one")
        same(grace.asked, [USE], "authorizations of the other one")
        same(await peer.text("count"), "2")
        # Without a token the session is of no use either.
        async with httpx2.AsyncClient() as stranger:
            answer = await send(stranger, target, "POST", LIST, headers)
            same(answer.status_code, 401, "status without a token")


# req: security-2026-handle-not-authentication
@check(lambda target: True)
async def handle_of_another(target):
    ada, grace = Person("ada"), Person("grace")
    async with connected(target, ada) as one, connected(target, grace) as other:
        handle = await one.text("open_counter")
        same(await one.text("count", {"handle": handle}), "1")
        foreign = await other.client.call_tool("count", {"handle": handle})
        same(foreign.is_error, True, "isError of the other one")
        same(await one.text("count", {"handle": handle}), "2")


# req: auth-401-without-token, auth-token-validation, auth-audience-validation
@check(lambda target: target.transport == "auth")
async def wrong_tokens(target):
    ada = Person("ada")
    async with connected(target, ada) as peer:
        await peer.text("echo", {"text": "x"})
    head, claims, signature = ada.tokens.access_token.split(".")
    good = await ada.by_hand().token(target.address)
    same((await initialize(target, good)).status_code, 200, "with a token that is right")
    wrong = {
        "no JWT": "nonsense",
        "of three parts": "a.b.c",
        "signed by another": f"{head}.{claims}.{signature.swapcase()}",
        "not signed": f"{head}.{claims}.",
        "for another server": await ada.by_hand().token("https://other.example/mcp"),
        "expired": await ada.by_hand().token(target.address, lifetime=-2),
    }
    for what, token in wrong.items():
        challenged(target, Exchange(await initialize(target, token)), "invalid_token", what)


@check(lambda target: target.transport == "auth")
async def token_without_scope(target):
    ada = Person("ada")
    async with connected(target, ada) as peer:
        await peer.text("echo", {"text": "x"})
    token = await ada.by_hand().token(target.address, scope="files:write")
    refusal = Exchange(await initialize(target, token))
    same(refusal.status, 403, "status")
    same(refusal.challenge.get("error"), "insufficient_scope")
    same(refusal.challenge.scopes, USE, "what the challenge names")


@check(lambda target: target.named)
async def what_the_authorization_server_refuses(target):
    """Where it would not, a client that does it wrong would pass, too."""
    ada = Person("ada")
    async with connected(target, ada):
        flow = ada.by_hand()
    for code, change in (
        ("invalid_request", {"code_challenge": None}),
        ("invalid_request", {"code_challenge_method": "plain"}),
        ("invalid_request", {"redirect_uri": "http://127.0.0.1:33418/elsewhere"}),
        ("invalid_scope", {"scope": "everything"}),
        ("invalid_target", {"resource": None}),
        ("unsupported_response_type", {"response_type": "token"}),
    ):
        answer = await flow.authorize(**{"resource": target.address, **change})
        same(answer.get("error"), code, f"error for {change}")
        same(answer.get("code"), None, f"code for {change}")
    for code, change in (
        ("invalid_grant", {"code_verifier": "x" * 43}),
        ("invalid_grant", {"redirect_uri": None}),
        ("invalid_target", {"resource": "https://other.example/mcp"}),
    ):
        given = (await flow.authorize(target.address))["code"]
        answer = await flow.exchange(**{"code": given, "resource": target.address, **change})
        same(answer.get("error"), code, f"error for {change}")
        answer = await flow.exchange(given, target.address)
        same(answer.get("error"), "invalid_grant", "error for a used code")
    used = await flow.exchange((await flow.authorize(target.address))["code"], target.address)
    renew = {"grant_type": "refresh_token", "refresh_token": used["refresh_token"]}
    newer = await flow.exchange(None, target.address, **renew)
    same("access_token" in newer, True, "the first use of a refresh token")
    for token in (used, newer):
        renew["refresh_token"] = token["refresh_token"]
        answer = await flow.exchange(None, target.address, **renew)
        same(answer.get("error"), "invalid_grant", "error for a used refresh token, and the next")


@contextlib.asynccontextmanager
async def connected(target, person):
    async with contextlib.aclosing(person.http(target.address)) as http:
        async with target.connect(http=http) as peer:
            yield peer


async def tools(peer):
    return [tool.name for tool in (await peer.client.list_tools()).tools]


async def write(peer):
    same(await peer.text("write", WRITE), WRITTEN, "what write says")


async def counted(peer, target):
    """A number that grows by one with each call, by what the era keeps it in."""
    if target.sessions:
        return int(await peer.text("count"))
    peer.handle = getattr(peer, "handle", None) or await peer.text("open_counter")
    return int(await peer.text("count", {"handle": peer.handle}))


def challenged(target, exchange, error=None, what="request"):
    """Whether a request was refused for its credentials (RFC 6750 section 3.1)."""
    same(exchange.status, 401, f"status, {what}")
    same(exchange.challenge.scheme, "Bearer", f"scheme, {what}")
    # Who sent no token is told of no error.
    same(exchange.challenge.get("error"), error, f"error, {what}")
    same(exchange.challenge.scopes, USE, f"scopes, {what}")
    same(exchange.challenge.get("resource_metadata"), metadata(target), f"metadata, {what}")


def metadata(target):
    parts = urlsplit(target.address)
    # Clients of HTTP+SSE know another path than the others: there the origin is protected.
    path = parts.path if target.transport == "auth" else ""
    return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{path}"


async def initialize(target, token):
    info = {"name": "interop", "version": "1"}
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": info}
    async with httpx2.AsyncClient() as http:
        headers = {"Authorization": f"Bearer {token}"}
        return await send(http, target, "POST", ("initialize", params), headers)


async def send(http, target, method, call, headers):
    """A request of a handshake revision, without the SDK."""
    headers = {"Accept": "application/json, text/event-stream", **headers}
    if not call:
        return await http.request(method, target.address, headers=headers)
    name, params = call
    body = {"jsonrpc": "2.0", "id": 1, "method": name, "params": params}
    return await http.request(method, target.address, headers=headers, json=body)


LIST, COUNT = ("tools/list", {}), ("tools/call", {"name": "count", "arguments": {}})
WRITE = {"path": "notes.txt", "text": "hello"}
WRITTEN = "ada wrote 5 bytes to notes.txt"
