"""Hears what scripts say on sharded channels, for a whole process, over one connection to each server concerned."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from redis import exceptions

from services.runtime.errors import ServiceError
from services.runtime.logging import get_logger
from services.runtime.servers import Server
from services.runtime.store import Store, store_errors

# A connection on which nothing comes for so long is asked for a sign of life, and given up after as long again.
_SILENCE_SECONDS = 5.0
_PAUSE_SECONDS = 0.2

Heard = Callable[[str, str | None], None]
"""Gets a channel and what was said on it; None: the channel is heard from here on, and what was said before may have
been missed."""

_log = get_logger()


class Wakeups:
    def __init__(self, store: Store, channels: Iterable[str], heard: Heard) -> None:
        self._store = store
        self._heard = heard
        self._unheard = set(channels)
        self._heard_now: set[str] = set()
        self._lost = asyncio.Event()

    def hears(self, channel: str) -> bool:
        return channel in self._heard_now

    async def listen(self) -> None:
        """Listens for ever, and again whenever a server was away or a channel went to another."""
        listening: set[asyncio.Task[None]] = set()
        try:
            while True:
                self._lost.clear()
                for server, channels in await self._owners():
                    self._unheard -= channels
                    task = asyncio.create_task(self._listen(server, channels))
                    listening.add(task)
                    task.add_done_callback(listening.discard)
                await asyncio.sleep(_PAUSE_SECONDS)
                heed_cancellation()
                if not self._unheard:
                    await self._lost.wait()
        finally:
            for task in tuple(listening):
                task.cancel()
            if listening:
                await asyncio.wait(tuple(listening))

    async def _owners(self) -> list[tuple[Server, set[str]]]:
        if not self._unheard:
            return []
        try:
            with store_errors():
                return await self._store.servers.owners(self._unheard)
        except ServiceError:
            return []

    async def _listen(self, server: Server, channels: set[str]) -> None:
        left = set(channels)
        try:
            with store_errors():
                await self._hear(server, left)
        except ServiceError:
            self._store.servers.doubt()
        except exceptions.AskError:
            self._store.servers.doubt()  # the channels are elsewhere
        except Exception:
            # A defect; without wake-ups nothing that is watched would go on.
            _log.exception("wake-ups not heard")
        finally:
            self._give_up(left)

    async def _hear(self, server: Server, left: set[str]) -> None:
        connection = server.connection()
        try:
            # One channel in each command, as a cluster refuses those of several slots in one.
            await connection.send_packed_command(
                connection.pack_commands([("SSUBSCRIBE", channel) for channel in sorted(left)])
            )
            asked = False
            while left:
                heed_cancellation()
                message = await connection.read_response(timeout=_SILENCE_SECONDS)
                heed_cancellation()
                if message is None:
                    if asked:
                        raise exceptions.ConnectionError("the store is silent")
                    await connection.send_command("PING")
                asked = message is None
                match message:
                    case [b"smessage", channel, said]:
                        self._heard(channel.decode(), said.decode())
                    case [b"ssubscribe", channel, _]:
                        self._heard_now.add(channel.decode())
                        self._heard(channel.decode(), None)
                    case [b"sunsubscribe", channel, _]:
                        # Its slot goes to another server.
                        self._store.servers.doubt()
                        left.discard(channel.decode())
                        self._give_up({channel.decode()})
        finally:
            await connection.disconnect(nowait=True)

    def _give_up(self, channels: set[str]) -> None:
        self._heard_now -= channels
        self._unheard |= channels
        self._lost.set()


def heed_cancellation() -> None:
    """Ends a task that was cancelled: before Python 3.12, `asyncio.wait_for`, which the store's client uses, keeps a
    cancellation to itself if what it waits for comes at the same moment."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
