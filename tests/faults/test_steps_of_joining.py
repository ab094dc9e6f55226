"""The session process dies between any two steps of a newcomer's arrival or a seat's departure."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from functools import partial

import pytest
from grpc import aio

from clients.sdk import Unavailable
from clients.sdk.errors import call_failed
from roundtable.session.v1 import session_pb2
from services.runtime.processes import Processes
from services.runtime.settings import Settings
from tests.faults.conftest import Stopped, Stopping
from tests.integration.seats import SECONDS, Seats, client_of, new_game, new_request_id
from tests.integration.toy_engine import serve_toy_engine


@pytest.fixture(scope="module")
def toy_settings(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with Processes(logs=tmp_path_factory.mktemp("toy_engine")) as processes:
        engine = serve_toy_engine(processes, settings)
        yield settings.model_copy(update={"engine_addresses": (engine.address,)})


async def dies_at(stopped: Stopped, call: Awaitable[object]) -> None:
    await stopped.reached()
    stopped.kill()
    with pytest.raises(aio.AioRpcError) as error:
        await call
    assert isinstance(call_failed(error.value), Unavailable)


@pytest.mark.parametrize("step", ["join.asked", "join.resolved", "join.committed"])
async def test_a_newcomer_gets_one_seat(
    step: str, stopping: Stopping, processes: Processes, toy_settings: Settings
) -> None:
    other_ready = processes.serve("session", toy_settings)
    ready = await asyncio.to_thread(stopping, "session", toy_settings, step)
    async with client_of(ready.address, other_ready.address) as (first, other):
        seats = Seats(await other.stub.CreateGame(new_game(game="toy", seats=2, joinable=True), timeout=SECONDS))
        request = session_pb2.JoinRequest(
            game_id=seats.game_id, join_token=seats.created.join_token, request_id=new_request_id()
        )

        await dies_at(Stopped(ready.pid), first.stub.Join(request, timeout=SECONDS))
        joined = await other.stub.Join(request, timeout=SECONDS)

        assert await other.stub.Join(request, timeout=SECONDS) == joined
        assert joined.seat == 2
        view = await other.view(seats.game_id, joined.seat_token)
        assert (view.view.seat, view.update.version) == (2, 1)


@pytest.mark.parametrize("step", ["move.asked", "move.loaded", "move.resolved", "move.committed"])
async def test_a_seat_leaves_once(step: str, stopping: Stopping, processes: Processes, toy_settings: Settings) -> None:
    other_ready = processes.serve("session", toy_settings)
    ready = await asyncio.to_thread(stopping, "session", toy_settings, step)
    async with client_of(ready.address, other_ready.address) as (first, other):
        seats = Seats(await other.stub.CreateGame(new_game(game="toy", seats=3), timeout=SECONDS))
        request = session_pb2.LeaveRequest(
            game_id=seats.game_id, seat_token=seats.tokens[0], request_id=new_request_id()
        )

        await dies_at(Stopped(ready.pid), first.stub.Leave(request, timeout=SECONDS))
        answer = await other.stub.Leave(request, timeout=SECONDS)

        assert await other.stub.Leave(request, timeout=SECONDS) == answer
        assert (answer.update.version, [event.kind for event in answer.update.events]) == (1, ["turn_lost", "went"])
        assert (await other.view(seats.game_id, seats.tokens[0])).update.version == 1
        watching = other.watch(seats.game_id, None)
        assert (await anext(watching)).snapshot.update.version == 1


async def test_a_newcomer_and_a_leaver_meet(stopping: Stopping, processes: Processes, toy_settings: Settings) -> None:
    """The one was judged before the other came first, and is judged again; neither undoes what the other changed."""
    other_ready = processes.serve("session", toy_settings)
    ready = await asyncio.to_thread(stopping, "session", toy_settings, "join.resolved")
    stopped = Stopped(ready.pid)
    async with client_of(ready.address, other_ready.address) as (first, other):
        seats = Seats(await other.stub.CreateGame(new_game(game="toy", seats=3, joinable=True), timeout=SECONDS))
        request = session_pb2.JoinRequest(
            game_id=seats.game_id, join_token=seats.created.join_token, request_id=new_request_id()
        )

        call = asyncio.ensure_future(first.stub.Join(request, timeout=SECONDS))
        await stopped.reached()
        leave = partial(other.stub.Leave, timeout=SECONDS)
        await leave(
            session_pb2.LeaveRequest(game_id=seats.game_id, seat_token=seats.tokens[1], request_id=new_request_id())
        )
        stopped.go_on()
        joined = await call

        assert joined.seat == 3
        view = await other.view(seats.game_id, joined.seat_token)
        assert (view.view.seat, view.update.version) == (3, 2)
        with pytest.raises(aio.AioRpcError) as error:
            await leave(
                session_pb2.LeaveRequest(game_id=seats.game_id, seat_token=seats.tokens[1], request_id=new_request_id())
            )
        assert call_failed(error.value).reason == "SEAT_LEFT"
