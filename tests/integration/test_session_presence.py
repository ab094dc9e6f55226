"""Who is connected, told in the feed across processes that come and go."""

from __future__ import annotations

import asyncio
import os
import signal
import urllib.request
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from random import Random

import pytest
from grpc import aio

from roundtable.session.v1 import session_pb2
from services.runtime.errors import Reason
from services.runtime.processes import Processes
from services.runtime.server import Ready
from services.runtime.settings import Settings
from services.session.keys import find_game
from tests.integration.conftest import client_of_store
from tests.integration.seats import SECONDS, Seats, Session, client_of, refused

SEED = 20261204
LEASE_SECONDS = 1.2


@pytest.fixture
def started(processes: Processes, settings: Settings) -> tuple[Ready, Ready]:
    """Two session processes with a short lease."""
    quick = settings.model_copy(update={"presence_seconds": LEASE_SECONDS, "heartbeat_seconds": 5.0})
    return processes.serve("session", quick), processes.serve("session", quick)


@pytest.fixture
async def both(started: tuple[Ready, Ready]) -> AsyncIterator[list[Session]]:
    async with client_of(*(ready.address for ready in started)) as clients:
        yield clients


@asynccontextmanager
async def connected(session: Session, seats: Seats, seat: int) -> AsyncIterator[None]:
    """The seat watches, and shows that it is connected."""
    request = session_pb2.WatchRequest(game_id=seats.game_id, seat_token=seats.tokens[seat], show_presence=True)
    call = session.stub.Watch(request, timeout=3 * SECONDS)
    await call.read()
    try:
        yield
    finally:
        call.cancel()


class Watcher:
    """A spectator's feed, entry by entry."""

    def __init__(self, feed: AsyncIterator[session_pb2.WatchResponse]) -> None:
        self._feed = feed

    async def presence(self) -> tuple[int, bool]:
        async with asyncio.timeout(SECONDS):
            entry = await anext(self._feed)
        assert entry.HasField("presence"), entry
        return entry.presence.seat, entry.presence.connected

    async def entry(self) -> session_pb2.WatchResponse:
        async with asyncio.timeout(SECONDS):
            return await anext(self._feed)

    async def nothing(self, seconds: float) -> None:
        """Nothing is told for some time. The feed cannot be used afterwards."""
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(seconds):
                raise AssertionError(await anext(self._feed))


@asynccontextmanager
async def spectator(session: Session, seats: Seats, after: str | None = None) -> AsyncIterator[Watcher]:
    feed = session.watch(seats.game_id, None, after)
    async with aclosing(feed):  # type: ignore[type-var]  # a generator
        yield Watcher(feed)


async def test_a_seat_that_shows_it_is_told_as_connected_and_as_gone(both: list[Session]) -> None:
    seats = await both[0].create()
    async with spectator(both[1], seats) as watcher:
        start = (await watcher.entry()).snapshot
        assert (start.reason, list(start.present)) == (session_pb2.SNAPSHOT_REASON_START, [])
        async with connected(both[0], seats, 2):
            arrived = await watcher.entry()
            assert (arrived.presence.seat, arrived.presence.connected) == (2, True)
            assert arrived.presence.since == arrived.at
            async with spectator(both[0], seats) as later:
                (present,) = (await later.entry()).snapshot.present
                assert present == arrived.presence
            await seats.play(both[1], Random(SEED), moves=2)
            assert [(await watcher.entry()).update.version for _ in range(2)] == [1, 2]
        gone = await watcher.entry()
        assert (gone.presence.seat, gone.presence.connected) == (2, False)
        assert gone.presence.since.ToNanoseconds() > arrived.presence.since.ToNanoseconds()
        # It is no input, and a place in the feed like any other.
        assert (await both[0].view(seats.game_id, None)).update.version == 2
        assert (await both[0].view(seats.game_id, None)).cursor == gone.cursor
        async with spectator(both[0], seats, arrived.cursor) as again:
            assert [(await again.entry()).update.version for _ in range(2)] == [1, 2]
            assert await again.entry() == gone


async def test_who_does_not_show_it_is_not_told_of(both: list[Session]) -> None:
    seats = await both[0].create()
    spectators = session_pb2.WatchRequest(game_id=seats.game_id, show_presence=True)
    silent = session_pb2.WatchRequest(game_id=seats.game_id, seat_token=seats.tokens[0])
    async with spectator(both[1], seats) as watcher:
        await watcher.entry()
        calls = [both[0].stub.Watch(request, timeout=SECONDS) for request in (spectators, silent)]
        for call in calls:
            await call.read()
        await watcher.nothing(0.5)
        for call in calls:
            call.cancel()


async def test_several_streams_of_a_seat_come_and_go_as_one(both: list[Session]) -> None:
    """At two processes, and again after a break that is shorter than the patience."""
    seats = await both[0].create()
    async with spectator(both[1], seats) as watcher:
        await watcher.entry()
        async with connected(both[0], seats, 1):
            assert await watcher.presence() == (1, True)
            async with connected(both[1], seats, 1), connected(both[0], seats, 1):
                pass
        async with connected(both[1], seats, 1):
            await asyncio.sleep(LEASE_SECONDS)
            # Only what comes last is told: nothing came between.
            async with connected(both[0], seats, 3):
                assert await watcher.presence() == (3, True)
        assert sorted([await watcher.presence(), await watcher.presence()]) == [(1, False), (3, False)]


async def test_a_killed_process_leaves_nobody_connected_and_all_are_told_once(
    both: list[Session], started: tuple[Ready, Ready], store_url: str
) -> None:
    seats = await both[0].create()
    async with spectator(both[1], seats) as watcher:
        await watcher.entry()
        async with (
            connected(both[1], seats, 0),
            connected(both[0], seats, 0),
            connected(both[0], seats, 1),
            connected(both[0], seats, 4),
        ):
            assert sorted([await watcher.presence() for _ in range(3)]) == [(0, True), (1, True), (4, True)]
            os.kill(started[0].pid, signal.SIGKILL)
            assert sorted([await watcher.presence() for _ in range(2)]) == [(1, False), (4, False)]
            await watcher.nothing(2 * LEASE_SECONDS)
    game = find_game(seats.game_id)
    with client_of_store(store_url) as store:
        async with asyncio.timeout(SECONDS):
            while [each for each in store.zrange(game.due, 0, -1) if b"abandoned" not in each]:
                await asyncio.sleep(0.1)


async def test_a_process_that_was_taken_for_dead_shows_its_seats_again(
    both: list[Session], started: tuple[Ready, Ready]
) -> None:
    seats = await both[0].create()
    async with spectator(both[1], seats) as watcher:
        await watcher.entry()
        async with connected(both[0], seats, 2):
            assert await watcher.presence() == (2, True)
            os.kill(started[0].pid, signal.SIGSTOP)
            try:
                assert await watcher.presence() == (2, False)
            finally:
                os.kill(started[0].pid, signal.SIGCONT)
            assert await watcher.presence() == (2, True)


async def test_a_finished_game_is_not_added_to(both: list[Session]) -> None:
    seats = await both[0].create()
    async with connected(both[0], seats, 2):
        await seats.play(both[0], Random(SEED))
    end = (await both[0].view(seats.game_id, None)).cursor
    async with connected(both[0], seats, 3):
        await asyncio.sleep(LEASE_SECONDS)
    assert (await both[0].view(seats.game_id, None)).cursor == end
    assert await both[1].watch_to_end(seats.game_id, None, end) == []


# Watchers that do not read


@asynccontextmanager
async def narrow_client_of(address: str) -> AsyncIterator[Session]:
    """A client that takes little ahead of what it reads, so that a whole game is too much for it."""
    options = [("grpc.http2.lookahead_bytes", 1024), ("grpc.http2.bdp_probe", 0)]
    async with aio.insecure_channel(address, options=options) as channel:
        yield Session(channel)


async def test_a_slow_watcher_is_cut_off_delays_nobody_and_goes_on_where_it_was(
    processes: Processes, settings: Settings
) -> None:
    impatient = settings.model_copy(update={"slow_watcher_seconds": 2.0, "heartbeat_seconds": 5.0})
    ready = processes.serve("session", impatient)
    async with narrow_client_of(ready.address) as session, client_of(ready.address) as (other,):
        seats = await session.create()
        request = session_pb2.WatchRequest(game_id=seats.game_id, seat_token=seats.tokens[0])
        slow, asleep = [session.stub.Watch(request, timeout=4 * SECONDS) for _ in range(2)]
        first = await slow.read()
        await asleep.read()
        assert isinstance(first, session_pb2.WatchResponse)
        # On the same connection as the slow ones, and on another.
        quick = [
            asyncio.create_task(each.watch_to_end(seats.game_id, seats.tokens[0], first.cursor))
            for each in (session, other)
        ]

        moves = await seats.play(other, Random(SEED))
        whole, also = await asyncio.wait_for(asyncio.gather(*quick), SECONDS)
        assert whole == also
        assert [entry.update.version for entry in whole] == [move.update.version for move in moves]

        async with asyncio.timeout(SECONDS):
            while calls(ready, 'finished_total{code="UNAVAILABLE",reason="WATCHER_TOO_SLOW"') < 2:
                await asyncio.sleep(0.1)
        got: list[session_pb2.WatchResponse] = []
        with refused(Reason.WATCHER_TOO_SLOW):
            while isinstance(entry := await asyncio.wait_for(slow.read(), SECONDS), session_pb2.WatchResponse):
                got.append(entry)
        assert 0 < len(got) < len(whole)
        rest = await session.watch_to_end(seats.game_id, seats.tokens[0], got[-1].cursor)
        assert [each for each in (*got, *rest) if not each.HasField("heartbeat")] == whole
        # Who does not even read why holds nothing for long either.
        async with asyncio.timeout(SECONDS):
            while calls(ready, "open{"):
                await asyncio.sleep(0.1)


def calls(ready: Ready, name: str) -> float:
    """A metric of the process's watches."""
    with urllib.request.urlopen(f"http://{ready.metrics_address}/metrics") as response:
        lines = response.read().decode().splitlines()
    return sum(
        float(line.split()[-1]) for line in lines if line.startswith(f"roundtable_rpc_{name}") and "/Watch" in line
    )
