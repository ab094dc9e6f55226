"""The newest entries of the feeds that are watched at this process.

A process reads a feed on when the store wakes it, over one subscription for all games, and its watchers take from what
was read, each at its own pace: no watcher waits for another, and none has a queue of its own.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager

from services.runtime.errors import Reason, ServiceError
from services.runtime.logging import get_logger
from services.runtime.store import Store
from services.runtime.wakeups import Wakeups
from services.session.cursors import Cursor
from services.session.feeds import FeedGap, Placed, read_from
from services.session.keys import BUCKETS, GameKeys, wake_channel
from services.session.store import Games

_PAUSE_SECONDS = 0.2
_HEARD_SECONDS = 2.0
_LOOK_SECONDS = 0.1
_NEWEST_ENTRIES = 32

_log = get_logger()


class Tail:
    """The newest entries of one feed."""

    def __init__(self, games: Games, game: GameKeys, end: Cursor) -> None:
        self.watchers = 0
        self.failure: ServiceError | None = None
        """Why the feed cannot be followed any more."""
        self._games = games
        self._game = game
        self._end = end
        self._entries: deque[Placed] = deque(maxlen=_NEWEST_ENTRIES)
        self._news = asyncio.Event()
        self._stale = False
        self._reading: asyncio.Task[None] | None = None

    async def after(self, cursor: Cursor) -> list[Placed]:
        """The entries after a place, as soon as there are some.

        Raises:
            FeedGap: entries after the place are no longer kept.
            ServiceError: CURSOR_UNKNOWN, STORE_UNAVAILABLE.
        """
        while True:
            if self.failure is not None:
                raise self.failure
            if cursor.position < self._end.position:
                if self._entries and self._entries[0].cursor.position <= cursor.position + 1:
                    return [entry for entry in self._entries if entry.cursor.position > cursor.position]
                return (await read_from(self._games, self._game, cursor))[1:]
            await self._news.wait()

    def read_on(self) -> None:
        """Reads what the feed has got; once more is enough for all the wake-ups that come meanwhile."""
        self._stale = True
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read())

    def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()

    async def _read(self) -> None:
        while self._stale:
            self._stale = False
            try:
                await self._take_entries()
            except ServiceError as error:
                if error.reason is Reason.STORE_UNAVAILABLE:
                    self._stale = True
                    await asyncio.sleep(_PAUSE_SECONDS)
                    continue
                self.failure = error
            except Exception:
                # A defect; watchers must not wait for what nobody reads.
                _log.exception("feed not read", game_id=self._game.id)
                self.failure = ServiceError(Reason.INTERNAL, "the feed cannot be read")
            news, self._news = self._news, asyncio.Event()
            news.set()

    async def _take_entries(self) -> None:
        try:
            entries = (await read_from(self._games, self._game, self._end))[1:]
        except FeedGap:
            # Whoever is behind finds out by itself.
            self._entries.clear()
            now = await self._games.load(self._game)
            self._end = now.cursor
            return
        if entries:
            self._entries.extend(entries)
            self._end = entries[-1].cursor


class Tails:
    """The tails of all feeds that are watched at this process."""

    def __init__(self, store: Store, games: Games) -> None:
        self._games = games
        self._tails: defaultdict[str, dict[str, Tail]] = defaultdict(dict)
        """By wake-up channel and id of the game."""
        self._wakeups = Wakeups(store, map(wake_channel, range(BUCKETS)), self._heard)

    @contextmanager
    def joined(self, game: GameKeys, cursor: Cursor) -> Iterator[Tail]:
        """A feed's tail, for a watcher that has everything up to this place."""
        tails = self._tails[game.wake]
        tail = tails.get(game.id)
        if tail is None or tail.failure is not None:
            tail = tails[game.id] = Tail(self._games, game, cursor)
            # What came between the watcher's last look and now has woken nobody.
            tail.read_on()
        tail.watchers += 1
        try:
            yield tail
        finally:
            tail.watchers -= 1
            if not tail.watchers:
                tail.close()
                if tails.get(game.id) is tail:
                    del tails[game.id]

    async def listen(self) -> None:
        """Hears the store's wake-ups, for ever."""
        await self._wakeups.listen()

    async def woken(self, game: GameKeys) -> bool:
        """Whether the store's wake-ups for a game are heard, or are within a short time, as by a process that has just
        started or has lost a server of the store."""
        try:
            async with asyncio.timeout(_HEARD_SECONDS):
                while not self._wakeups.hears(game.wake):
                    await asyncio.sleep(_LOOK_SECONDS)
        except TimeoutError:
            return False
        return True

    def _heard(self, channel: str, game_id: str | None) -> None:
        tails = self._tails[channel]
        if game_id is None:
            for tail in tails.values():
                tail.read_on()
        elif game_id in tails:
            tails[game_id].read_on()
