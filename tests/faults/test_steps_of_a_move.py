"""The session process, the engine or the store dies between any two steps of a move, and of the creation of a game."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import TypeVar

import pytest
from grpc import aio
from pydantic import SecretStr
from redis import Redis

from clients.sdk import Unavailable
from clients.sdk.errors import call_failed
from loadtests.cluster import Cluster
from loadtests.cluster import cluster as cluster_in
from loadtests.faults.proxy import Proxy
from roundtable.session.v1 import session_pb2
from services.runtime.errors import Reason, ServiceError
from services.runtime.players import player_token
from services.runtime.processes import Processes
from services.runtime.server import Ready
from services.runtime.settings import Settings
from services.session.keys import find_game
from services.session.log import decode_input
from tests.faults.conftest import Stopped, Stopping
from tests.integration.conftest import PLAYER_KEY, OwnStore
from tests.integration.seats import SECONDS, Seats, Session, client_of, new_game, new_request_id, outcome_of, refused

SEED = 20261201
STEPS = ("move.asked", "move.loaded", "move.resolved", "move.committed")
BEFORE = 7
"""Moves of the game before the one that meets with trouble."""

Answer = TypeVar("Answer")


async def until_it_works(call: Callable[[], Awaitable[Answer]]) -> Answer:
    """The same request, for as long as it is told to come back."""
    async with asyncio.timeout(SECONDS):
        while True:
            try:
                return await call()
            except aio.AioRpcError as error:
                if not isinstance(call_failed(error), Unavailable):
                    raise
                await asyncio.sleep(0.1)


@dataclass
class Trouble:
    """Two session processes, one of which will stop at a step of the next move."""

    stopped: Stopped
    stopping: Session
    other: Session
    log: Callable[[str], list[bytes]]
    """The log of the game whose log has this name."""


@asynccontextmanager
async def trouble(stopping: Ready, other: Ready, store: str | Cluster) -> AsyncIterator[Trouble]:
    def log(name: str) -> list[bytes]:
        found: list[bytes]
        if isinstance(store, Cluster):
            found = store.owner(store.slot_of(name)).ask("LRANGE", name, 0, -1)
        else:
            with Redis.from_url(store) as client:
                found = client.lrange(name, 0, -1)
        return found

    async with client_of(stopping.address, other.address) as (first, second):
        yield Trouble(Stopped(stopping.pid), first, second, log)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster_in(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


async def made_once(trouble: Trouble, dies: Callable[[str], Awaitable[None]], *, goes_on: bool = True) -> None:
    """Asks for a move, lets something die while the session process stands still, and asks again.

    Args:
        dies: gets the id of the game.
    """
    random = Random(SEED)
    seats = await trouble.other.create()
    await seats.play(trouble.other, random, BEFORE)
    view = await trouble.other.view(seats.game_id, seats.tokens[0])
    seat = view.update.asked[0]
    request = seats.choice(seat, await seats.decision(trouble.other, seat))
    feed = asyncio.create_task(follow(trouble.other, seats, view.cursor, BEFORE + 2))

    call = asyncio.create_task(trouble.stopping.choose_raw(request))
    await trouble.stopped.reached()
    await dies(seats.game_id)
    if goes_on:
        trouble.stopped.go_on()
    outcome = await outcome_of(call)
    answer = await until_it_works(partial(trouble.other.choose_raw, request))

    if isinstance(outcome, bytes):
        assert outcome == answer
    assert session_pb2.ChooseResponse.FromString(answer).update.version == BEFORE + 1
    assert await trouble.other.choose_raw(request) == answer
    log = [decode_input(entry) for entry in await asyncio.to_thread(trouble.log, find_game(seats.game_id).log)]
    assert len(log) == BEFORE + 1
    assert (log[-1].seat, log[-1].decision) == (seat, request.decision_id)
    other_picks = session_pb2.ChooseRequest.FromString(request.SerializeToString())
    other_picks.picks[:] = ["something else"]
    with refused(Reason.REQUEST_ID_REUSED):
        await trouble.other.choose_raw(other_picks)
    await seats.play(trouble.other, random, 1)
    assert await feed == [BEFORE + 1, BEFORE + 2]


async def follow(session: Session, seats: Seats, after: str, last: int) -> list[int]:
    """Versions of the entries of a feed, taken up again whenever it breaks off."""
    versions: list[int] = []

    async def watch() -> None:
        nonlocal after
        async for response in session.watch(seats.game_id, seats.tokens[1], after):
            after = response.cursor
            versions.append(response.update.version)
            if versions[-1] >= last:
                return

    while not versions or versions[-1] < last:
        await until_it_works(watch)
    return versions


@pytest.mark.parametrize("step", STEPS)
async def test_the_session_process_dies(
    step: str, stopping: Stopping, settings: Settings, sessions: tuple[Ready, Ready], store_url: str
) -> None:
    ready = await asyncio.to_thread(stopping, "session", settings, step)
    async with trouble(ready, sessions[0], store_url) as found:

        async def dies(_game_id: str) -> None:
            found.stopped.kill()

        await made_once(found, dies, goes_on=False)


@pytest.mark.parametrize("step", STEPS)
async def test_the_engine_dies(
    step: str,
    stopping: Stopping,
    processes: Processes,
    settings: Settings,
    sessions: tuple[Ready, Ready],
    store_url: str,
) -> None:
    engine = processes.serve("engine", settings)
    ready = stopping("session", settings.model_copy(update={"engine_addresses": (engine.address,)}), step)

    async def dies(_game_id: str) -> None:
        os.kill(engine.pid, signal.SIGKILL)

    async with trouble(ready, sessions[0], store_url) as found:
        await made_once(found, dies)


@pytest.mark.parametrize("step", STEPS)
async def test_the_store_dies(
    step: str, stopping: Stopping, processes: Processes, settings: Settings, own_store: OwnStore
) -> None:
    settings = settings.model_copy(update={"store_url": SecretStr(own_store.url)})
    other, ready = processes.serve("session", settings), stopping("session", settings, step)

    async def dies(_game_id: str) -> None:
        await asyncio.to_thread(own_store.kill)
        await asyncio.to_thread(own_store.restart)

    async with trouble(ready, other, own_store.url) as found:
        await made_once(found, dies)


@pytest.mark.parametrize("step", [*STEPS, "move.stored"])
async def test_the_primary_dies(
    step: str, stopping: Stopping, processes: Processes, settings: Settings, cluster: Cluster
) -> None:
    level = {"store_url": SecretStr(cluster.url), "durability": "replicated"}
    settings = settings.model_copy(update=level)
    other, ready = processes.serve("session", settings), stopping("session", settings, step)

    def fail_over(game_id: str) -> None:
        primary = cluster.owner(cluster.slot_of(find_game(game_id).game))
        cluster.kill_primary(primary)
        primary.start()

    async def dies(game_id: str) -> None:
        await asyncio.to_thread(fail_over, game_id)

    async with trouble(ready, other, cluster) as found:
        await made_once(found, dies)
        await asyncio.to_thread(cluster.wait_until_well)


async def test_watchers_elsewhere_see_a_move_though_its_process_dies_before_it_shows_it(
    stopping: Stopping, processes: Processes, settings: Settings, cluster: Cluster
) -> None:
    """Replicas have it, so that it is there; nobody looks at the game who would notice."""
    level = {"store_url": SecretStr(cluster.url), "durability": "replicated"}
    settings = settings.model_copy(update=level)
    other, ready = processes.serve("session", settings), stopping("session", settings, "move.stored")
    async with trouble(ready, other, cluster) as found:
        seats = await found.other.create()
        view = await found.other.view(seats.game_id, seats.tokens[0])
        seat = view.update.asked[0]
        request = seats.choice(seat, await seats.decision(found.other, seat))
        feed = asyncio.create_task(follow(found.other, seats, view.cursor, 1))

        call = asyncio.create_task(found.stopping.choose_raw(request))
        await found.stopped.reached()
        assert not feed.done()
        found.stopped.kill()

        assert await asyncio.wait_for(feed, SECONDS) == [1]
        assert isinstance(await outcome_of(call), ServiceError)


async def test_the_session_process_dies_before_it_hears_that_the_move_is_stored(
    stopping: Stopping, settings: Settings, sessions: tuple[Ready, Ready], store_url: str
) -> None:
    proxy = Proxy()
    await proxy.open()
    with Redis.from_url(store_url) as store:
        where = store.connection_pool.connection_kwargs
        proxy.upstream = f"{where['host']}:{where['port']}"
        url = store_url.replace(f"{where['host']}:{where['port']}", proxy.address)
        ready = await asyncio.to_thread(
            stopping, "session", settings.model_copy(update={"store_url": SecretStr(url)}), "move.resolved"
        )
        async with AsyncExitStack() as stack:
            found = await stack.enter_async_context(trouble(ready, sessions[0], store_url))
            stack.push_async_callback(proxy.close)

            async def dies(_game_id: str) -> None:
                before = store.info("commandstats")["cmdstat_spublish"]["calls"]
                losing = asyncio.create_task(proxy.drop(SECONDS))
                found.stopped.go_on()
                async with asyncio.timeout(SECONDS):
                    while store.info("commandstats")["cmdstat_spublish"]["calls"] == before:
                        await asyncio.sleep(0.01)
                found.stopped.kill()
                losing.cancel()

            await made_once(found, dies, goes_on=False)


@pytest.mark.parametrize("step", ["create.asked", "create.made", "create.stored"])
async def test_a_game_is_created_once_though_the_session_process_dies(
    step: str, stopping: Stopping, settings: Settings, sessions: tuple[Ready, Ready]
) -> None:
    ready = await asyncio.to_thread(stopping, "session", settings, step)
    stopped, request = Stopped(ready.pid), new_game()
    async with client_of(ready.address, sessions[0].address) as (first, other):
        call = first.stub.CreateGame(request, timeout=SECONDS)
        await stopped.reached()
        stopped.kill()
        with pytest.raises(aio.AioRpcError) as error:
            await call
        assert isinstance(call_failed(error.value), Unavailable)

        created = await until_it_works(partial(other.stub.CreateGame, request, timeout=SECONDS))

        assert await other.stub.CreateGame(request, timeout=SECONDS) == created
        seats = Seats(created)
        for seat, token in enumerate(seats.tokens):
            assert (await other.view(seats.game_id, token)).view.seat == seat
        await seats.play(other, Random(SEED))


@pytest.mark.parametrize("step", ["create.stored", "create.indexed"])
async def test_a_game_gets_into_its_players_lists_though_the_session_process_dies(
    step: str, stopping: Stopping, settings: Settings, sessions: tuple[Ready, Ready]
) -> None:
    """Nobody asks for the game again."""
    ready = await asyncio.to_thread(stopping, "session", settings, step)
    stopped, player = Stopped(ready.pid), new_request_id()
    wanted = session_pb2.ListGamesRequest(player_id=player, player_token=player_token(PLAYER_KEY, player))
    async with client_of(ready.address, sessions[0].address) as (first, other):
        call = first.stub.CreateGame(new_game(player_ids=["", "", player, "", ""]), timeout=SECONDS)
        await stopped.reached()
        stopped.kill()
        with pytest.raises(aio.AioRpcError):
            await call

        async with asyncio.timeout(SECONDS):
            while not (listed := (await other.stub.ListGames(wanted, timeout=SECONDS)).games):
                await asyncio.sleep(0.1)

    assert [(game.seat, game.state, game.version) for game in listed] == [(2, session_pb2.GAME_STATE_OPEN, 0)]


async def test_a_game_is_created_once_though_two_processes_are_at_it(
    stopping: Stopping, settings: Settings, sessions: tuple[Ready, Ready]
) -> None:
    """One has set it up and stands still; the other comes first; then the one goes on."""
    ready = await asyncio.to_thread(stopping, "session", settings, "create.made")
    stopped, request = Stopped(ready.pid), new_game(seed=None)
    async with client_of(ready.address, sessions[0].address) as (first, other):
        call = first.stub.CreateGame(request, timeout=SECONDS)
        await stopped.reached()
        created = await other.stub.CreateGame(request, timeout=SECONDS)
        stopped.go_on()
        assert await call == created
