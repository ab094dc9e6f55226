"""Games in which nothing has happened for long: they are closed, so that the store does not keep them for ever. Games
that are over keep no feed but its end."""

from __future__ import annotations

from services.runtime.errors import Reason, ServiceError
from services.runtime.logging import get_logger
from services.runtime.store import Store
from services.session.keys import due_set, find_game
from services.session.players import PlayerIndex
from services.session.store import LOOK_MS, Games, abandoned_work, now_ms

_DAY_SECONDS = 24 * 3600

_log = get_logger()


class Abandoned:
    def __init__(self, store: Store, games: Games, index: PlayerIndex, *, seconds: int) -> None:
        self._store = store
        self._games = games
        self._player_index = index
        self._seconds = seconds

    async def look(self, bucket: int, game_id: str) -> None:
        """Closes a game if nothing has been in its feed for the time, else comes back later. Moves need not put it
        off, as it finds out by itself; and it comes so often that nothing is kept for long of games that are over."""
        game = find_game(game_id)
        work = abandoned_work(game)
        last = await self._games.last_entry(game)
        if last is None or last.last:
            await self._games.trim(game)
            await self._store.call("ZREM", due_set(bucket), work)
            return
        now, abandoned_at = now_ms(), last.at_ms + self._seconds * 1000
        if abandoned_at > now:
            await self._player_index.index(game)
            await self._store.call("ZADD", due_set(bucket), "XX", min(abandoned_at, now + LOOK_MS), work)
            return
        try:
            before = await self._games.load(game)
        except ServiceError as error:
            if error.reason is not Reason.GAME_NOT_FOUND:
                raise
            await self._store.call("ZREM", due_set(bucket), work)
            return
        # Should it have moved on after all, the work is taken again later.
        if await self._games.close(game, before, f"nothing has happened for {_span(self._seconds)}"):
            _log.info("abandoned game closed", game_id=game.id)


def _span(seconds: int) -> str:
    if seconds >= 2 * _DAY_SECONDS:
        return f"{seconds // _DAY_SECONDS} days"
    return f"{seconds} seconds"
