"""A way to the server that remembers what went through, and that can be cut."""

import asyncio
import contextlib
import re
from urllib.parse import urlsplit

from peer import same, settled


class Proxy:
    def __init__(self, url):
        parts = urlsplit(url)
        self._server, self._path = (parts.hostname, parts.port), parts.path
        self._open, self._writers, self._tasks = asyncio.Event(), set(), set()
        self._open.set()
        self._sent, self._received = bytearray(), bytearray()

    async def __aenter__(self):
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._listener.sockets[0].getsockname()
        self.url = f"http://{host}:{port}{self._path}"
        return self

    async def __aexit__(self, *_):
        self._listener.close()
        self.mend()
        for writer in list(self._writers):
            writer.transport.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader, writer):
        self._tasks.add(task := asyncio.current_task())
        await self._open.wait()
        self._writers.add(writer)
        from_server, to_server = await asyncio.open_connection(*self._server)
        self._writers.add(to_server)
        await asyncio.gather(
            self._copy(reader, to_server, self._sent),
            self._copy(from_server, writer, self._received),
        )
        self._tasks.discard(task)

    async def _copy(self, reader, writer, kept):
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                kept += data
                writer.write(data)
                await writer.drain()
        writer.close()
        self._writers.discard(writer)

    def cut(self):
        """Breaks every connection, and lets no other through before `mend`."""
        self._open.clear()
        for writer in list(self._writers):
            writer.transport.abort()

    def mend(self):
        self._open.set()

    @property
    def sent(self):
        return self._sent.decode(errors="replace")

    @property
    def received(self):
        return self._received.decode(errors="replace")

    @property
    def session(self):
        found = re.search(r"\r\nmcp-session-id: *(\S+)", self.received, re.IGNORECASE)
        return found and found[1]

    @property
    def resumptions(self):
        """How many requests named the event that they go on after."""
        return len(re.findall(r"\r\nlast-event-id: *\S", self.sent, re.IGNORECASE))

    async def streams(self):
        """Waits for the stream that a client opens by itself once it is connected."""
        await settled(lambda: "content-type: text/event-stream" in self.received.lower())
        same("GET /mcp" in self.sent, True, "the client asked for a stream")
        same("content-type: text/event-stream" in self.received.lower(), True, "it has a stream")
