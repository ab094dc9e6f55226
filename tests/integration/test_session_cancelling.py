"""Calls that are cancelled and streams that are left: nobody gets another's answer, and nothing of them stays."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from roundtable.session.v1 import session_pb2
from services.runtime.errors import Reason, ServiceError
from services.runtime.processes import Processes
from services.runtime.settings import Settings
from tests.integration.seats import SECONDS, Seats, Session, client_of, outcome_of

SEED = 20261206
GAMES = 8
AT_ONCE = 100


class Load:
    """Calls about many games at once, most of which are cancelled at some point of their way. Each answer has to be the
    one to its own question: games differ in seats and version, so that none has the answer of another."""

    def __init__(self, sessions: list[Session], games: list[Seats], random: Random) -> None:
        self._sessions = sessions
        self._games = games
        self._random = random
        self.answered = 0
        self.cancelled = 0

    async def run(self, calls: int) -> None:
        for _ in range(calls // AT_ONCE):
            tasks = [asyncio.create_task(self._call()) for _ in range(AT_ONCE)]
            for task in tasks:
                if self._random.random() < 0.8:
                    asyncio.get_running_loop().call_later(self._random.random() * 0.1, task.cancel)
            for outcome in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(outcome, asyncio.CancelledError):
                    self.cancelled += 1
                elif outcome is not None:
                    raise outcome
                else:
                    self.answered += 1

    async def _call(self) -> None:
        session = self._random.choice(self._sessions)
        number = self._random.randrange(len(self._games))
        await self._random.choice((self._look, self._watch, self._own_part))(session, self._games[number], number)

    async def _look(self, session: Session, seats: Seats, number: int) -> None:
        seat = self._random.randrange(len(seats.tokens))
        seen = await session.view(seats.game_id, seats.tokens[seat])
        assert (seen.view.seat, seen.update.version) == (seat, number)

    async def _watch(self, session: Session, seats: Seats, number: int) -> None:
        seat = self._random.randrange(len(seats.tokens))
        request = session_pb2.WatchRequest(
            game_id=seats.game_id, seat_token=seats.tokens[seat], show_presence=self._random.random() < 0.5
        )
        call = session.stub.Watch(request, timeout=SECONDS)
        try:
            entry = await call.read()
            assert isinstance(entry, session_pb2.WatchResponse)
            assert (entry.snapshot.view.seat, entry.snapshot.update.version) == (seat, number)
        finally:
            call.cancel()

    async def _own_part(self, session: Session, seats: Seats, number: int) -> None:
        seat = self._random.randrange(len(seats.tokens))
        request = session_pb2.GetRecordRequest(game_id=seats.game_id, seat_token=seats.tokens[seat])
        record = (await session.stub.GetRecord(request, timeout=SECONDS)).record
        assert (record.game_id, record.version, record.seats) == (seats.game_id, number, len(seats.tokens))
        assert {each.seat for each in record.inputs} <= {seat}


async def load_of(sessions: list[Session]) -> Load:
    random = Random(SEED)
    games = []
    for number in range(GAMES):
        seats = await sessions[0].create(seats=3 + number % 5, seed=number)
        await seats.play(sessions[0], random, moves=number)
        games.append(seats)
    return Load(sessions, games, random)


async def test_thousands_of_cancelled_calls_leave_every_answer_to_its_own_question(both: list[Session]) -> None:
    load = await load_of(both)

    await load.run(3000)

    assert load.cancelled > 500
    assert load.answered > 500


async def test_moves_are_answered_for_their_own_game_while_calls_are_cancelled(both: list[Session]) -> None:
    load = await load_of(both)
    playing = [await both[number % 2].create(seats=3 + number % 5, seed=100 + number) for number in range(5)]

    async def play(seats: Seats, session: Session, random: Random) -> None:
        for move in await seats.play(session, random, moves=40):
            # Of one seat at a time: the version tells the game apart from the others.
            assert move.update.version > 0
        versions = (await session.view(seats.game_id, None)).update.version
        assert versions == 40

    await asyncio.gather(
        load.run(1000), *(play(seats, both[place % 2], Random(place)) for place, seats in enumerate(playing))
    )


# Two devices of one player


async def test_of_conflicting_answers_one_is_applied_and_all_feeds_have_it_once(both: list[Session]) -> None:
    """Five devices of each seat answer at once, differently; each watches too."""
    random = Random(SEED)
    for seed in range(4):
        seats = await both[0].create(seed=seed, seats=4)
        cursor = (await both[0].view(seats.game_id, None)).cursor
        decisions = [await seats.decision(both[0], seat) for seat in range(4)]
        requests = [
            (seat, seats.choice(seat, decisions[seat], [random.choice(decisions[seat].options).id]))
            for seat in range(4)
            for _ in range(5)
        ]

        async def answer(seat: int, request: session_pb2.ChooseRequest) -> tuple[int, ServiceError | bytes]:
            return seat, await outcome_of(asyncio.create_task(random.choice(both).choose_raw(request)))

        answers = await asyncio.gather(*(answer(*each) for each in requests))

        for seat in range(4):
            own = [answer for place, answer in answers if place == seat]
            (stands,) = [answer for answer in own if isinstance(answer, bytes)]
            version = str(session_pb2.ChooseResponse.FromString(stands).update.version)
            refusals = [answer for answer in own if isinstance(answer, ServiceError)]
            assert [refusal.reason for refusal in refusals] == [Reason.DECISION_CLOSED] * 4
            assert {refusal.metadata["version"] for refusal in refusals} == {version}
            assert len({refusal.metadata["picks"] for refusal in refusals}) == 1
        for session in both:
            feed = session.watch(seats.game_id, seats.tokens[1], cursor)
            assert [(await anext(feed)).update.version for _ in range(4)] == [1, 2, 3, 4]
        assert (await both[1].view(seats.game_id, None)).update.version == 4


# Memory
#
# What little still grows is the library's: a bare server of grpcio 1.85 grows by some hundred bytes with each call that
# is cancelled on its way (and not with calls that are answered), while this process gains no Python objects.


def resident_kib(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


async def leave_streams_and_calls(address: str, games: list[Seats], number: int) -> None:
    """Half are watches that are left after their first entry, half are calls that are cancelled on their way."""

    async def watch(session: Session, seats: Seats, seat: int) -> None:
        request = session_pb2.WatchRequest(game_id=seats.game_id, seat_token=seats.tokens[seat])
        call = session.stub.Watch(request, timeout=SECONDS)
        await call.read()
        call.cancel()

    async def look(session: Session, seats: Seats, seat: int) -> None:
        call = session.stub.GetView(
            session_pb2.GetViewRequest(game_id=seats.game_id, seat_token=seats.tokens[seat]), timeout=SECONDS
        )
        await asyncio.sleep(0.002)
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call

    async with client_of(address) as (session,):
        for start in range(0, number, AT_ONCE):
            await asyncio.gather(
                *(
                    (watch if place % 2 else look)(session, games[place % len(games)], place % 3)
                    for place in range(start, start + AT_ONCE)
                )
            )


async def resident_after(processes: Processes, settings: Settings, numbers: Sequence[int]) -> list[int]:
    """Resident memory of a session process, in KiB, after so many, and each time so many more."""
    ready = processes.serve("session", settings)
    async with client_of(ready.address) as (session,):
        games = [await session.create(seed=seed) for seed in range(20)]
    sizes = []
    for number in numbers:
        await leave_streams_and_calls(ready.address, games, number)
        sizes.append(resident_kib(ready.pid))
    return sizes


async def test_abandoned_streams_and_cancelled_calls_leave_nothing(processes: Processes, settings: Settings) -> None:
    """What is left of calls would be left of each; a busy machine only needs longer to be warm."""
    warm, *later = await resident_after(processes, settings, [4000, 2000, 2000])
    assert later[0] < 1.05 * warm or later[1] < 1.02 * later[0]


@pytest.mark.slow
@pytest.mark.skipif("SLOW_TESTS" not in os.environ, reason="takes a minute; set SLOW_TESTS=1")
async def test_20000_abandoned_streams_and_cancelled_calls_leave_nothing(
    processes: Processes, settings: Settings
) -> None:
    warm, after = await resident_after(processes, settings, [4000, 20_000])
    assert after < 1.05 * warm
