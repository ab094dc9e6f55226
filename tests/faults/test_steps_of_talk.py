"""The session process dies between any two steps of something said."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from grpc import aio
from pydantic import SecretStr

from clients.sdk import Unavailable
from clients.sdk.errors import call_failed
from loadtests.cluster import Cluster
from roundtable.session.v1 import session_pb2
from services.runtime.processes import Processes
from services.runtime.server import Ready
from services.runtime.settings import Settings
from services.session.keys import find_game
from tests.faults.conftest import Stopped, Stopping
from tests.faults.test_steps_of_a_move import cluster, until_it_works
from tests.integration.seats import SECONDS, client_of

__all__ = ["cluster"]


@pytest.mark.parametrize("step", ["say.asked", "say.judged", "say.said"])
async def test_it_is_said_once(
    step: str, stopping: Stopping, settings: Settings, sessions: tuple[Ready, Ready]
) -> None:
    ready = await asyncio.to_thread(stopping, "session", settings, step)
    stopped = Stopped(ready.pid)
    async with client_of(ready.address, sessions[0].address) as (first, other):
        seats = await other.create()
        before = await other.view(seats.game_id, None)
        request, last = (
            session_pb2.SayRequest(
                game_id=seats.game_id, seat_token=seats.tokens[0], declaration_id=declaration, request_id=declaration
            )
            for declaration in ("agree", "disagree")
        )

        call = first.stub.Say(request, timeout=SECONDS)
        await stopped.reached()
        stopped.kill()
        with pytest.raises(aio.AioRpcError) as error:
            await call
        assert isinstance(call_failed(error.value), Unavailable)
        for again in (request, request, last):
            await other.stub.Say(again, timeout=SECONDS)

        feed = other.watch(seats.game_id, None, before.cursor)
        assert [(await anext(feed)).said.declaration.id for _ in range(2)] == ["agree", "disagree"]


@pytest.mark.parametrize("step", ["say.judged", "say.said"])
async def test_the_primary_dies(
    step: str, stopping: Stopping, processes: Processes, settings: Settings, cluster: Cluster
) -> None:
    level = {"store_url": SecretStr(cluster.url), "durability": "replicated"}
    settings = settings.model_copy(update=level)
    other_ready = processes.serve("session", settings)
    ready = await asyncio.to_thread(stopping, "session", settings, step)
    stopped = Stopped(ready.pid)
    async with client_of(ready.address, other_ready.address) as (first, other):
        seats = await other.create()
        before = await other.view(seats.game_id, None)
        request, last = (
            session_pb2.SayRequest(
                game_id=seats.game_id, seat_token=seats.tokens[0], declaration_id=declaration, request_id=declaration
            )
            for declaration in ("agree", "disagree")
        )

        call = asyncio.ensure_future(first.stub.Say(request, timeout=SECONDS))
        await stopped.reached()
        primary = cluster.owner(cluster.slot_of(find_game(seats.game_id).game))
        await asyncio.to_thread(cluster.kill_primary, primary)
        await asyncio.to_thread(primary.start)
        stopped.go_on()
        await asyncio.wait([call])
        for again in (request, request, last):
            await until_it_works(partial(other.stub.Say, again, timeout=SECONDS))

        feed = other.watch(seats.game_id, None, before.cursor)
        assert [(await anext(feed)).said.declaration.id for _ in range(2)] == ["agree", "disagree"]
        await asyncio.to_thread(cluster.wait_until_well)


async def test_something_else_comes_first(
    stopping: Stopping, settings: Settings, sessions: tuple[Ready, Ready]
) -> None:
    """It was judged where the game stood then, and is judged again: both stand, in the order in which they came."""
    ready = await asyncio.to_thread(stopping, "session", settings, "say.judged")
    stopped = Stopped(ready.pid)
    async with client_of(ready.address, sessions[0].address) as (first, other):
        seats = await other.create()
        before = await other.view(seats.game_id, None)
        request = session_pb2.SayRequest(
            game_id=seats.game_id, seat_token=seats.tokens[0], declaration_id="agree", request_id="agree"
        )

        call = asyncio.ensure_future(first.stub.Say(request, timeout=SECONDS))
        await stopped.reached()
        await other.choose(seats.choice(1, await seats.decision(other, 1)))
        stopped.go_on()
        await call

        feed = other.watch(seats.game_id, None, before.cursor)
        assert [(await anext(feed)).WhichOneof("entry") for _ in range(2)] == ["update", "said"]
