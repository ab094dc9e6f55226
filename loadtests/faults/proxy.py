"""Stands before a server and loses, holds back or cuts what it answers."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from random import Random

_CHUNK_BYTES = 1 << 16


class _Link:
    """A client's connection and the one that carries it on."""

    def __init__(self, client: StreamWriter, server: StreamWriter) -> None:
        self.spoilt = False
        """Something that the server answered is missing."""
        self._ends = (client, server)

    def cut(self) -> None:
        for end in self._ends:
            end.transport.abort()


class Proxy:
    """Keeps its address while the server behind it comes and goes."""

    def __init__(self) -> None:
        self.upstream: str | None = None
        """host:port of the server; None while there is none, when connections are refused."""
        self._listener: asyncio.Server
        self._links: set[_Link] = set()
        self._connections: set[asyncio.Task[None]] = set()
        self._dropping = False
        self._flowing = asyncio.Event()
        self._flowing.set()

    async def open(self, port: int = 0) -> None:
        self._listener = await asyncio.start_server(self._connected, "127.0.0.1", port)

    @property
    def port(self) -> int:
        port: int = self._listener.sockets[0].getsockname()[1]
        return port

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def drop(self, seconds: float) -> None:
        """Requests pass and their answers are lost; then the connections on which some were lost are cut."""
        self._dropping = True
        await asyncio.sleep(seconds)
        self._dropping = False
        for link in list(self._links):
            if link.spoilt:
                link.cut()

    async def delay(self, seconds: float) -> None:
        """Every answer within that time comes at its end."""
        self._flowing.clear()
        await asyncio.sleep(seconds)
        self._flowing.set()

    def cut(self, random: Random, share: float = 1.0) -> None:
        """Cuts this share of the connections."""
        for link in list(self._links):
            if random.random() < share:
                link.cut()

    async def close(self) -> None:
        self._listener.close()
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "connections are served by tasks"
        self._connections.add(task)
        try:
            await self._carry(reader, writer)
        except asyncio.CancelledError:
            pass  # `close`; whoever made this task logs a cancellation as a failure
        finally:
            writer.transport.abort()
            self._connections.discard(task)

    async def _carry(self, reader: StreamReader, writer: StreamWriter) -> None:
        if self.upstream is None:
            return
        host, _, port = self.upstream.rpartition(":")
        try:
            answers, requests = await asyncio.open_connection(host, int(port))
        except OSError:
            return
        link = _Link(writer, requests)
        self._links.add(link)
        try:
            ways = [
                asyncio.create_task(self._pass_requests(reader, requests)),
                asyncio.create_task(self._pass_answers(answers, writer, link)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        finally:
            self._links.discard(link)
            link.cut()

    async def _pass_requests(self, reader: StreamReader, writer: StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK_BYTES):
                writer.write(data)
                await writer.drain()

    async def _pass_answers(self, reader: StreamReader, writer: StreamWriter, link: _Link) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK_BYTES):
                await self._flowing.wait()
                # What follows a gap would be garbled.
                link.spoilt |= self._dropping
                if not link.spoilt:
                    writer.write(data)
                    await writer.drain()
