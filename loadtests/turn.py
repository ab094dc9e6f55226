"""The whole path of a move: clients in this process, a session service, an engine, a store, every seat watching."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, cycle, islice
from time import perf_counter
from typing import TYPE_CHECKING

from grpc import aio

from loadtests.measuring import Figures, spread
from loadtests.recording import Recording
from roundtable.session.v1 import session_pb2 as session
from roundtable.session.v1.session_pb2_grpc import SessionServiceStub

if TYPE_CHECKING:  # a class of the type stubs only
    from roundtable.session.v1.session_pb2_grpc import SessionServiceAsyncStub

# One move at a time goes through several games in the time of a measure, many hardly finish theirs.
SPARE_GAMES = 8
_ANSWER_SECONDS = 5.0


class Replay:
    """A recorded game, played again through a session service, with a feed open for every seat.

    It uses the generated stubs, as the fewer cycles clients take, the clearer show those of the services.
    """

    def __init__(self, sessions: SessionServiceAsyncStub, recording: Recording) -> None:
        self.recording = recording
        self._sessions = sessions
        self._created: session.CreateGameResponse
        self._version = 0
        self._seen = [-1] * recording.seats
        self._news = asyncio.Event()

    async def open(self, feeds: asyncio.TaskGroup) -> list[asyncio.Task[None]]:
        """Creates the game and gives its feeds, which run until they are cancelled or the game is over."""
        await self.create()
        opened = [feeds.create_task(self._watch(seat)) for seat in range(self.recording.seats)]
        await self.caught_up()
        return opened

    async def create(self) -> None:
        """Creates the game without any feed."""
        self._created = await self._sessions.CreateGame(
            session.CreateGameRequest(
                request_id=str(uuid.uuid4()),
                game=self.recording.game,
                seats=self.recording.seats,
                seed=self.recording.seed,
            ),
            timeout=_ANSWER_SECONDS,
        )

    @property
    def game_id(self) -> str:
        """Id of the game, once it is created."""
        return self._created.game_id

    async def move(self, number: int) -> float:
        """Makes the move of this number, from 0; gives the seconds until its answer."""
        move = self.recording.moves[number]
        request = session.ChooseRequest(
            game_id=self._created.game_id,
            seat_token=self._created.seat_tokens[move.seat],
            decision_id=move.decision,
            picks=move.picks,
            request_id=str(uuid.uuid4()),
        )
        began = perf_counter()
        response = await self._sessions.Choose(request, timeout=_ANSWER_SECONDS)
        took = perf_counter() - began
        self._version = response.update.version
        if self._version != self.recording.steps[number].version:
            raise RuntimeError(f"move {number + 1} of a recorded game came out as another")
        return took

    async def caught_up(self) -> None:
        """Waits until every seat has seen the last move."""
        async with asyncio.timeout(_ANSWER_SECONDS):
            while min(self._seen) < self._version:
                self._news.clear()
                await self._news.wait()

    async def _watch(self, seat: int) -> None:
        feed = self._sessions.Watch(
            session.WatchRequest(game_id=self._created.game_id, seat_token=self._created.seat_tokens[seat])
        )
        try:
            async for response in feed:
                match response.WhichOneof("entry"):
                    case "snapshot":
                        self._seen[seat] = response.snapshot.update.version
                    case "update":
                        if response.update.version != self._seen[seat] + 1:
                            raise RuntimeError(f"the feed of seat {seat} jumped to {response.update.version}")
                        self._seen[seat] += 1
                self._news.set()
        finally:
            feed.cancel()


@dataclass
class _Window:
    waiting: list[Replay]
    ends: float
    took: list[float] = field(default_factory=list)


async def measure(address: str, recordings: Sequence[Recording], in_flight: int, seconds: float) -> Figures:
    """Keeps this number of moves in flight, each of another game, for that time or until too few games are left.

    The rate counts until every seat has seen the last move, so that feeds cannot fall behind unnoticed.
    """
    async with aio.insecure_channel(address) as channel, asyncio.TaskGroup() as feeds:
        sessions = SessionServiceStub(channel)
        games = [Replay(sessions, each) for each in islice(cycle(recordings), in_flight + SPARE_GAMES)]
        opened = await asyncio.gather(*(game.open(feeds) for game in games))
        began = perf_counter()
        window = _Window(games.copy(), began + seconds)
        await asyncio.gather(*(_play(window) for _ in range(in_flight)))
        await asyncio.gather(*(game.caught_up() for game in games))
        elapsed = perf_counter() - began
        for feed in chain.from_iterable(opened):
            feed.cancel()
    milliseconds = spread([took * 1000 for took in window.took])
    return {
        "moves_per_s": len(window.took) / elapsed,
        "p50_ms": milliseconds.p50,
        "p95_ms": milliseconds.p95,
        "p99_ms": milliseconds.p99,
    }


async def _play(window: _Window) -> None:
    """Plays one game after another while the window is open; closes it when none is left."""
    while window.waiting:
        game = window.waiting.pop()
        for number in range(len(game.recording.moves)):
            if perf_counter() > window.ends:
                return
            window.took.append(await game.move(number))
    window.ends = perf_counter()
