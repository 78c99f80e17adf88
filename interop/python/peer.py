"""Where the server is, and a client that is connected to it."""

import asyncio
import contextlib

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import PromptsListChanged, ResourceUpdated, ToolsListChanged
from mcp.types import (
    PromptListChangedNotification,
    ResourceUpdatedNotification,
    ToolListChangedNotification,
)

LEGACY, MODERN = "2025-11-25", "2026-07-28"
INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32600, -32601, -32602
WATCHED = "test://watched-resource"


class Target:
    """A server, and the era and the transport to reach it by."""

    def __init__(self, era, transport, address):
        self.era, self.transport, self.address = era, transport, address
        self.legacy, self.pinned = era == "legacy", era == "pinned"
        # Whether a connection has a session, and whether that is one of Streamable HTTP.
        self.sessions = self.legacy and transport != "stateless"
        self.streamable = self.legacy and transport == "http"
        # Whether somebody logs in whose session a header names.
        self.named = self.legacy and transport == "auth"
        # Whether the server tells of changes.
        self.tells = not self.legacy or self.sessions

    @contextlib.asynccontextmanager
    async def connect(self, address=None, http=None, **handlers):
        """A client of its own; `address` is a way around, `http` the HTTP client of one who logs
        in, `handlers` answer the server."""
        address = address or self.address
        server = {
            "http": lambda: address,
            "stateless": lambda: address,
            "auth": lambda: streamable_http_client(address, http_client=http),
            "auth-sse": lambda: sse_client(address, httpx_client_factory=lambda **_: http),
            "sse": lambda: sse_client(address),
            "stdio": lambda: StdioServerParameters(command=address, args=["--stdio"]),
        }[self.transport]()
        logs, told = [], []

        async def log(params):
            logs.append(params)

        async def tell(message):
            told.extend(name_of(message))

        client = Client(
            server,
            mode={"legacy": "legacy", "modern": "auto", "pinned": MODERN}[self.era],
            logging_callback=log,
            log_level="debug",
            message_handler=tell,
            read_timeout_seconds=30,
            **handlers,
        )
        async with client:
            yield Peer(client, self, logs, told)


class Peer:
    """A connected client and what the server told it unasked."""

    def __init__(self, client, target, logs, told):
        self.client, self.legacy, self.pinned = client, target.legacy, target.pinned
        self.logs, self.told, self.events = logs, told, []

    async def text(self, tool, arguments=None):
        result = await self.client.call_tool(tool, arguments)
        same(result.is_error, False, "isError")
        return result.content[0].text

    @contextlib.asynccontextmanager
    async def watch(self, uri=None):
        """Asks to be told of the lists and of one resource, as the era has it, until it is left."""
        if self.legacy:
            if uri:
                await self.client.subscribe_resource(uri)
            yield
            if uri:
                await self.client.unsubscribe_resource(uri)
            return
        uris = [uri] if uri else []
        lists = {"tools_list_changed": True, "prompts_list_changed": True}
        async with self.client.listen(**lists, resource_subscriptions=uris) as subscription:
            same(subscription.honored.resource_subscriptions or [], uris, "what is honored")
            reader = asyncio.create_task(self._read(subscription))
            yield
            reader.cancel()

    async def _read(self, subscription):
        async for event in subscription:
            self.events.extend(name_of(event))

    async def hear(self, name):
        """Waits until the server has told of that change."""
        await settled(lambda: name in self.told and (self.legacy or name in self.events))
        same(name in self.told, True, f"{name} is among {self.told}")
        if not self.legacy:
            same(name in self.events, True, f"{name} is among {self.events}")


def name_of(message):
    """The short name of a change, whether it is a notification or an event of the client."""
    match message:
        case ToolListChangedNotification() | ToolsListChanged():
            return ["tools"]
        case PromptListChangedNotification() | PromptsListChanged():
            return ["prompts"]
        case ResourceUpdatedNotification():
            return [str(message.params.uri)]
        case ResourceUpdated():
            return [message.uri]
    return []


def same(found, wanted, what="answer"):
    if found != wanted:
        raise AssertionError(f"{what} is {found!r}, wanted {wanted!r}")


async def refused(call, codes):
    try:
        answer = await call
    except MCPError as error:
        if error.code not in codes:
            raise AssertionError(f"refused with {error.code}, wanted one of {codes}") from error
    else:
        raise AssertionError(f"not refused: {answer!r}")


async def settled(condition):
    """Gives what is under way five seconds to come in."""
    for _ in range(250):
        if condition():
            return
        await asyncio.sleep(0.02)
