"""Who is connected: told in the feed when the first watch that shows a seat begins, and when the last has ended.

A seat is held by the processes at which such watches are open. Each process shows in every bucket concerned that it is
alive; when it fails to, whichever process finds that due takes back what the dead one held. A process that was taken
for dead and is not gets another name and shows its seats again, so that nothing done for the dead meets the living.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from google.protobuf.timestamp_pb2 import Timestamp

from roundtable.session.v1 import session_pb2
from services.runtime.errors import ServiceError
from services.runtime.logging import get_logger
from services.runtime.store import Store
from services.session.cursors import MARK_BYTES
from services.session.keys import GameKeys, due_set, find_game, shown_set
from services.session.store import Entry, encode_entry, now_ms, script, show, telling

_NAME_BYTES = 6
_PAUSE_SECONDS = 0.5
_FAREWELL_SECONDS = 1.0
# A lease is renewed so often that two renewals may be lost.
_RENEWALS = 3

_log = get_logger()

_Held = tuple[GameKeys, int]


class Presence:
    """The seats that this process shows as connected."""

    def __init__(self, store: Store, *, feed_entries: int, lease_seconds: float) -> None:
        """
        Args:
            feed_entries: how many entries a feed keeps.
            lease_seconds: how long a process that is not heard of counts as alive.
        """
        self._store = store
        self._feed_entries = feed_entries
        self._lease_seconds = lease_seconds
        self._watches: Counter[_Held] = Counter()
        self._names: dict[int, str] = {}
        """Under which this process is alive, by bucket."""
        self._shown: dict[_Held, str] = {}
        """Under which name the store has it."""
        self._telling: dict[_Held, asyncio.Task[None]] = {}

    @contextmanager
    def shown(self, game: GameKeys, seat: int) -> Iterator[None]:
        """Shows a seat as connected while the block runs. The store is told meanwhile and afterwards, and told again
        while it is away."""
        held = (game, seat)
        self._watches[held] += 1
        self._tell(held)
        try:
            yield
        finally:
            self._watches[held] -= 1
            if not self._watches[held]:
                del self._watches[held]
            self._tell(held)

    def _tell(self, held: _Held) -> None:
        if held not in self._telling:
            self._telling[held] = asyncio.create_task(self._tell_until_it_holds(held))

    async def _tell_until_it_holds(self, held: _Held) -> None:
        game, seat = held
        try:
            while True:
                try:
                    name = self._names.get(game.bucket) or await self._take_name(game.bucket)
                    shown = self._shown.get(held)
                    if held in self._watches and shown != name:
                        if await self._arrive(game, seat, name):
                            self._shown[held] = name
                        else:
                            self._names.pop(game.bucket, None)
                    elif held not in self._watches and shown is not None:
                        await depart(self._store, game, seat, shown, self._lease_seconds / _RENEWALS)
                        self._shown.pop(held, None)
                    else:
                        return
                except ServiceError:
                    await asyncio.sleep(_PAUSE_SECONDS)
        except Exception:
            _log.exception("presence not told", game_id=game.id)
        finally:
            del self._telling[held]

    async def _take_name(self, bucket: int) -> str:
        name = secrets.token_hex(_NAME_BYTES)
        await self._show_alive(bucket, name, new=True)
        # Another task may have been quicker; the name that is not used is soon forgotten.
        return self._names.setdefault(bucket, name)

    async def _show_alive(self, bucket: int, name: str, *, new: bool) -> bool:
        lease_ms = round(self._lease_seconds * 1000)
        return bool(await self._store.run(_ALIVE, [due_set(bucket)], [name, lease_ms, int(new)]))

    async def _arrive(self, game: GameKeys, seat: int, name: str) -> bool:
        """False if this name counts as dead."""
        now = now_ms()
        entry = _entry(seat, True, now)
        done: int = await self._store.run(
            _ARRIVE,
            [game.game, game.feed, game.wake, game.due, shown_set(game.bucket, name)],
            [seat, name, encode_entry(entry), entry.mark, now, self._feed_entries, game.id],
        )
        await show(self._store, game)
        return done >= 0

    async def stay_alive(self) -> None:
        """Shows that this process is alive, for ever, wherever it shows a seat."""
        while True:
            await asyncio.sleep(self._lease_seconds / _RENEWALS)
            wanted = {game.bucket for game, _ in self._shown}
            for bucket, name in list(self._names.items()):
                try:
                    alive = bucket in wanted and await self._show_alive(bucket, name, new=False)
                except ServiceError:
                    continue
                # There is nothing to be alive for, or this process was taken for dead.
                if not alive and self._names.get(bucket) == name:
                    del self._names[bucket]
            for held, name in list(self._shown.items()):
                if self._names.get(held[0].bucket) != name:
                    self._tell(held)

    async def say_farewell(self) -> None:
        """Gives what is being told some time, before the process ends."""
        if self._telling:
            await asyncio.wait(list(self._telling.values()), timeout=_FAREWELL_SECONDS)
        for task in list(self._telling.values()):
            task.cancel()

    async def of(self, game: GameKeys, seats: int) -> list[session_pb2.Presence]:
        """The seats of a game that any process shows as connected.

        Args:
            seats: how many the game has.
        """
        since = await self._store.call("HMGET", game.game, *(f"s{seat}" for seat in range(seats)))
        return [_presence(seat, True, int(at_ms)) for seat, at_ms in enumerate(since) if at_ms is not None]

    # Due work

    async def bury(self, bucket: int, name: str) -> None:
        """Takes back all that a dead process showed in a bucket."""
        shown = shown_set(bucket, name)
        for member in await self._store.call("SMEMBERS", shown):
            game_id, _, seat = member.decode().partition(" ")
            await depart(self._store, find_game(game_id), int(seat), name, 0)
        await self._store.run(_BURIED, [due_set(bucket), shown], [name])

    async def tell_gone(self, bucket: int, what: str) -> None:
        """Tells that a seat is gone, unless it came back."""
        game_id, _, seat = what.partition(" ")
        game, entry = find_game(game_id), _entry(int(seat), False, now_ms())
        await self._store.run(
            _GONE,
            [game.game, game.feed, game.wake, game.due],
            [seat, encode_entry(entry), entry.mark, self._feed_entries, game.id],
        )
        await show(self._store, game)


async def depart(store: Store, game: GameKeys, seat: int, name: str, after_seconds: float) -> None:
    """Takes back that a process shows a seat.

    Args:
        after_seconds: time for the seat to come back before it is told as gone.
    """
    await store.run(
        _DEPART,
        [game.game, game.due, shown_set(game.bucket, name)],
        [seat, name, game.id, round(after_seconds * 1000)],
        confirmed=True,  # nobody would take it back again
    )


def _presence(seat: int, connected: bool, at_ms: int) -> session_pb2.Presence:
    since = Timestamp()
    since.FromMilliseconds(at_ms)
    return session_pb2.Presence(seat=seat, connected=connected, since=since)


def _entry(seat: int, connected: bool, at_ms: int) -> Entry:
    told = _presence(seat, connected, at_ms).SerializeToString()
    # The history stays as it is, so that the place gets a mark of its own.
    return Entry(secrets.token_bytes(MARK_BYTES), at_ms, False, told, {}, "presence")


_ALIVE = script("alive")
_ARRIVE = telling("arrive")
_DEPART = script("depart")
_GONE = telling("gone")
_BURIED = script("buried")
