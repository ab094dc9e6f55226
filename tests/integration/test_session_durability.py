"""Moves on a cluster whose replicas must have them: what is not confirmed is neither acknowledged nor shown, and games
go on while slots move and a primary dies."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest
from grpc import aio
from pydantic import SecretStr

from clients.players import picks_at_random
from loadtests.cluster import Cluster, cluster
from roundtable.session.v1 import session_pb2
from services.runtime.errors import Reason, ServiceError
from services.runtime.processes import Processes
from services.runtime.settings import Settings
from services.session.keys import find_game
from tests.integration.seats import SECONDS, Seats, Session, client_of, refused

SEED = 20261203
_PAUSE_SECONDS = 0.02

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster") / "nodes") as made:
        yield made


@pytest.fixture(scope="module")
def addresses(nodes: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Of two session services over the cluster; the second one waits for no replica."""
    with Processes(logs=tmp_path_factory.mktemp("services")) as processes:
        settings = Settings(
            store_url=SecretStr(nodes.url),
            durability="replicated",
            allow_seeds=True,
            drain_seconds=0,
            heartbeat_seconds=0.2,
        )
        engine = processes.serve("engine", settings)
        settings = settings.model_copy(update={"engine_addresses": (engine.address,)})
        lower = settings.model_copy(update={"durability": "development"})
        yield processes.serve("session", settings).address, processes.serve("session", lower).address


@pytest.fixture(scope="module")
def address(addresses: tuple[str, str]) -> str:
    return addresses[0]


async def test_what_replicas_do_not_confirm_is_neither_acknowledged_nor_shown(
    nodes: Cluster, addresses: tuple[str, str]
) -> None:
    async with client_of(*addresses) as [session, lower]:
        seats = await session.create()
        made = await seats.play(session, Random(SEED), 3)
        view = await session.view(seats.game_id, None)
        seat = view.update.asked[0]
        request = seats.choice(seat, await seats.decision(session, seat))
        shown: list[session_pb2.WatchResponse] = []
        beats = 0

        async def watch() -> None:
            nonlocal beats
            async for response in session.watch(seats.game_id, None, view.cursor, heartbeats=True):
                if response.HasField("heartbeat"):
                    beats += 1
                else:
                    shown.append(response)

        watching = asyncio.create_task(watch())
        while not beats:
            await asyncio.sleep(0.05)
        begun = beats
        primary = nodes.owner(nodes.slot_of(find_game(seats.game_id).game))
        with nodes.replica_of(primary).frozen():
            for _ in range(2):
                with refused(Reason.STORE_UNAVAILABLE):
                    await session.choose_raw(request)
            with refused(Reason.STORE_UNAVAILABLE):
                await session.view(seats.game_id, None)
            with refused(Reason.STORE_UNAVAILABLE):
                await lower.view(seats.game_id, None)
            with refused(Reason.STORE_UNAVAILABLE):
                await lower.choose_raw(request)
            # Until the work of showing it has been due for long.
            await asyncio.sleep(4)
            with refused(Reason.STORE_UNAVAILABLE):
                await session.choose_raw(request)
            assert beats > begun + 3
            assert shown == []
        await asyncio.to_thread(nodes.wait_until_well)

        answer = await _in_the_end(session, request)
        version = made[-1].update.version
        assert session_pb2.ChooseResponse.FromString(answer).update.version > version
        assert await session.choose_raw(request) == answer
        while not shown:
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.5)
        watching.cancel()
        assert len(shown) == 1
        assert shown[0].update.version == session_pb2.ChooseResponse.FromString(answer).update.version


async def _in_the_end(session: Session, request: session_pb2.ChooseRequest) -> bytes:
    answer: bytes | None = None
    while answer is None:
        with _away_for_a_moment():
            answer = await session.choose_raw(request)
        await asyncio.sleep(_PAUSE_SECONDS)
    return answer


@contextmanager
def _away_for_a_moment() -> Iterator[None]:
    """The store may be unavailable in the block, and nothing else may be wrong."""
    try:
        yield
    except aio.AioRpcError as error:
        if ServiceError.from_rpc_error(error, Reason.INTERNAL).reason is not Reason.STORE_UNAVAILABLE:
            raise


async def test_games_go_on_while_slots_move_and_a_primary_dies(nodes: Cluster, address: str) -> None:
    async with client_of(address) as [session]:
        games = [await session.create(seed=seed) for seed in range(1, 7)]
        moves = {game.game_id: 0 for game in games}
        feeds: dict[str, list[int]] = {game.game_id: [] for game in games}
        finished: set[str] = set()
        over = asyncio.Event()

        async def play(number: int, seats: Seats) -> None:
            random = Random(SEED + number)
            while not over.is_set():
                with _away_for_a_moment():
                    update = (await session.view(seats.game_id, None)).update
                    if update.HasField("outcome"):
                        finished.add(seats.game_id)
                        return
                    seat = random.choice(list(update.asked))
                    decision = await seats.decision(session, seat)
                    await _in_the_end(session, seats.choice(seat, decision, picks_at_random(random, decision)))
                    moves[seats.game_id] += 1
                await asyncio.sleep(_PAUSE_SECONDS)

        async def watch(seats: Seats) -> None:
            after = None
            while True:
                with _away_for_a_moment():
                    async for response in session.watch(seats.game_id, None, after):
                        after = response.cursor
                        if response.HasField("update"):
                            feeds[seats.game_id].append(response.update.version)
                await asyncio.sleep(_PAUSE_SECONDS)

        watching = [asyncio.create_task(watch(game)) for game in games]
        playing = [asyncio.create_task(play(number, game)) for number, game in enumerate(games)]
        await asyncio.sleep(1)
        slots = [nodes.slot_of(find_game(game.game_id).game) for game in games]
        target = nodes.primaries()[0]
        await asyncio.to_thread(nodes.move, slots, target)
        await asyncio.sleep(1)
        moved = dict(moves)
        await asyncio.to_thread(nodes.kill_primary, target)
        await asyncio.to_thread(target.start)
        await asyncio.to_thread(nodes.wait_until_well)
        await asyncio.sleep(3)
        over.set()
        await asyncio.gather(*playing)
        versions = {game.game_id: (await session.view(game.game_id, None)).update.version for game in games}
        async with asyncio.timeout(SECONDS):
            while any(feeds[each][-1] < version for each, version in versions.items()):
                await asyncio.sleep(_PAUSE_SECONDS)
        for task in watching:
            task.cancel()

        for game in games:
            assert moves[game.game_id] > moved[game.game_id] or game.game_id in finished
            seen = feeds[game.game_id]
            assert seen == sorted(set(seen))
            assert seen[-1] == versions[game.game_id]
