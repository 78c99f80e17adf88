"""What lasts longer than a call: sessions, subscriptions, streams. Each check connects anew."""

import asyncio
import contextlib

import httpx2
from mcp.client.streamable_http import StreamableHTTPTransport

from peer import INVALID_REQUEST, METHOD_NOT_FOUND, WATCHED, refused, same, settled
from proxy import Proxy

CHECKS = []


def check(when):
    """A check of the targets that `when` holds for, which is its argument."""

    def register(function):
        CHECKS.append((function, when))
        return function

    return register


@check(lambda target: target.sessions)
async def session_values(target):
    async with target.connect() as one, target.connect() as other:
        same([await one.text("count"), await one.text("count")], ["1", "2"])
        same(await other.text("count"), "1")
        same(await one.text("count"), "3")


@check(lambda target: not target.sessions)
async def no_session_values(target):
    async with target.connect() as peer:
        same((await peer.client.call_tool("count", {})).is_error, True, "isError")


@check(lambda target: True)
async def handles(target):
    async with target.connect() as peer:
        handle, other = await peer.text("open_counter"), await peer.text("open_counter")
        counts = [await peer.text("count", {"handle": it}) for it in (handle, handle, other)]
        same(counts, ["1", "2", "1"])
        if target.transport != "stdio":  # where the next client has a server of its own
            async with target.connect() as next_one:
                same(await next_one.text("count", {"handle": handle}), "3")
        same(await peer.text("close_counter", {"handle": handle}), "ended")
        same((await peer.client.call_tool("count", {"handle": handle})).is_error, True, "isError")
        same(await peer.text("count", {"handle": other}), "2")


@check(lambda target: target.tells)
async def subscription(target):
    async with streaming(target) as (peer, _):
        async with peer.watch(WATCHED):
            await peer.text("test_trigger_resource_update")
            await peer.hear(WATCHED)
        peer.told.clear()
        async with peer.watch():
            await peer.text("test_trigger_resource_update")
            # What comes after shows that nothing came before.
            await peer.text("test_trigger_prompt_change")
            await peer.hear("prompts")
        same(WATCHED in peer.told, False, "heard of it after the end")


@check(lambda target: target.tells)
async def list_changes(target):
    async with streaming(target) as (peer, _), peer.watch():
        await peer.text("test_trigger_tool_change")
        await peer.hear("tools")
        await peer.text("test_trigger_prompt_change")
        await peer.hear("prompts")


@check(lambda target: True)
async def reconnection(target):
    async with streaming(target) as (peer, proxy):
        same(await peer.text("test_reconnection"), "Reconnected.")
        if target.streamable:
            same(proxy.resumptions, 1, "how often the client came back")


@check(lambda target: target.streamable)
async def broken_stream(target):
    async with streaming(target) as (peer, proxy), target.connect() as other:
        async with peer.watch(WATCHED):
            proxy.cut()
            await other.text("test_trigger_resource_update")
            proxy.mend()
            await peer.hear(WATCHED)
            same(proxy.resumptions, 1, "how often the client came back")
            await other.text("test_trigger_prompt_change")
            await peer.hear("prompts")
            same(peer.told.count(WATCHED), 1, "how often it heard of the resource")


@check(lambda target: target.streamable)
async def broken_call(target):
    steps = []

    async def note(progress, total, message):
        steps.append(round(progress * 3))

    async with streaming(target) as (peer, proxy):
        call = peer.client.call_tool("slow", {"ms": 600}, progress_callback=note)
        call = asyncio.create_task(call)
        await settled(lambda: steps)
        proxy.cut()
        proxy.mend()
        same((await call).content[0].text, "600")
        await settled(lambda: len(steps) >= 4)
        same(steps, [0, 1, 2, 3], "progress")


@check(lambda target: target.streamable)
async def deletion(target):
    async with Proxy(target.address) as proxy:
        async with target.connect(proxy.url):
            pass
        same("DELETE /mcp" in proxy.sent, True, "the client ended its session")
        same("HTTP/1.1 204 " in proxy.received, True, "and might do so")
    async with streaming(target) as (peer, proxy), httpx2.AsyncClient() as http:
        transport = StreamableHTTPTransport(target.address)
        transport.session_id = proxy.session
        await transport.terminate_session(http)
        await refused(peer.client.call_tool("echo", {"text": "x"}), [INVALID_REQUEST])
        same("HTTP/1.1 404 " in proxy.received, True, "the session is gone")


@check(lambda target: not target.tells)
async def statelessness(target):
    # That there is no stream is for other clients to find: this one asks none without a session.
    async with Proxy(target.address) as proxy, target.connect(proxy.url) as peer:
        offered = peer.client.server_capabilities
        same((offered.tools.list_changed, offered.resources.subscribe), (None, None), "offered")
        await refused(peer.client.subscribe_resource(WATCHED), [METHOD_NOT_FOUND])
        same(proxy.session, None, "session")


@contextlib.asynccontextmanager
async def streaming(target):
    """A peer that hears what it has not asked for, and the proxy on its way if there is one."""
    if not target.streamable:
        async with target.connect() as peer:
            yield peer, None
            if target.transport == "sse":
                await last_word(peer)
        return
    async with Proxy(target.address) as proxy, target.connect(proxy.url) as peer:
        await proxy.streams()
        yield peer, proxy


async def last_word(peer):
    """Hears what is still under way: `sse_client` raises where a message comes while it closes."""
    async with peer.watch(WATCHED):
        peer.told.clear()
        await peer.text("test_trigger_resource_update")
        await peer.hear(WATCHED)
