"""Players who queue for games and play them by random choices, and the games they get."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from random import Random

from clients.players import play_at_random
from clients.sdk import Roundtable, Seat
from roundtable.session.v1.session_pb2 import GetViewResponse, Said
from roundtable.table.v1.table_pb2 import Record, Update

_SAID_KEPT = 8


class Game:
    """One game, as its players see it together."""

    def __init__(self, seat: Seat, seed: int | None) -> None:
        self.seed = seed
        self.latest = Update()
        """The latest step that any of its players saw."""
        self.seen: GetViewResponse | None = None
        """What one of its seats knew when it last looked; all of the game once it is finished."""
        self.said: deque[Said] = deque(maxlen=_SAID_KEPT)
        """What was said last."""
        self._seat = seat

    def saw(self, update: Update) -> None:
        if update.version >= self.latest.version:
            self.latest = update

    def watched_by(self, seat: Seat) -> bool:
        """Whether it is this seat that looks for all."""
        return seat is self._seat

    async def look(self) -> None:
        self.seen = await self._seat.look()

    async def record(self) -> Record:
        """All of the game, once it is finished."""
        return await self._seat.record()

    @property
    def moves(self) -> int:
        return self.latest.version

    @property
    def finished(self) -> bool:
        return self.seen is not None and self.seen.update.HasField("outcome")


class Gathering:
    """The players of several games of one kind."""

    def __init__(
        self,
        game: str,
        seats: int,
        games: int,
        *,
        options: Mapping[str, str] | None = None,
        seed: int | None = None,
        pause: float = 0.0,
        talk: float = 0.0,
    ) -> None:
        """
        Args:
            seed: repeats the deals: game `n` of at most 1000, counted from 0, is dealt from `1000 * seed + n`.
            pause: seconds a player thinks before each choice.
            talk: how likely he says something before it, 0 to 1.
        """
        self.game = game
        self.total = games
        self._seats = seats
        self._options = options
        self._seed = seed
        self._pause = pause
        self._talk = talk
        self._games: dict[str, Game] = {}

    @property
    def games(self) -> list[Game]:
        """Those that have begun, in the order of their seeds, else as they began."""
        return sorted(self._games.values(), key=lambda game: game.seed or 0)

    @property
    def finished(self) -> int:
        return sum(game.finished for game in self._games.values())

    @property
    def moves(self) -> int:
        return sum(game.moves for game in self._games.values())

    async def play(self, roundtable: Roundtable) -> None:
        """Plays all games at once, to their ends."""
        async with asyncio.TaskGroup() as players:
            for number in range(self.total):
                seed = None if self._seed is None else 1000 * self._seed + number
                for player in range(self._seats):
                    players.create_task(self._play(roundtable, f"player-{number}-{player}", seed))

    async def _play(self, roundtable: Roundtable, player: str, seed: int | None) -> None:
        ticket = await roundtable.queue(player, self.game, self._seats, options=self._options, seed=seed)
        seat = await ticket.seated()
        game = self._games.setdefault(seat.game_id, Game(seat, seed))
        # One pair of ears is enough.
        heard = game.said.append if game.watched_by(seat) else lambda _said: None
        random = Random() if seed is None else Random(f"{seed}/{seat.number}")
        await play_at_random(seat, random, pause=self._pause, talk=self._talk, saw=game.saw, heard=heard)
        if not game.finished:
            await game.look()
