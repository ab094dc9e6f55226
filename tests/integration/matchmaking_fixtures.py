"""Matchmaking processes and their clients, and a session service that fails when told to."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from grpc import aio

from roundtable.matchmaking.v1 import matchmaking_pb2, matchmaking_pb2_grpc
from roundtable.session.v1 import session_pb2, session_pb2_grpc
from services.runtime.errors import Reason, ServiceError
from services.runtime.processes import Processes
from services.runtime.server import Ready, Runtime, open_channel, serving
from services.runtime.settings import Settings

SECONDS = 20.0
"""For anything to happen that has to."""


class Gate(session_pb2_grpc.SessionServiceServicer):
    """Stands before the session service and hands calls on, unless told to fail."""

    def __init__(self, session: aio.Channel) -> None:
        self._session = session_pb2_grpc.SessionServiceStub(session)
        self.refusal: ServiceError | None = None
        """What calls are refused with."""
        self.open = asyncio.Event()
        """Unset: games are created, but the answers are held back."""
        self.open.set()
        self.called = asyncio.Event()
        self.calls: list[session_pb2.CreateGameRequest] = []

    async def CreateGame(self, request: session_pb2.CreateGameRequest, context: Any) -> session_pb2.CreateGameResponse:
        self.calls.append(request)
        self.called.set()
        if self.refusal is not None:
            raise self.refusal
        response = await self._session.CreateGame(request)
        await self.open.wait()
        return response


@asynccontextmanager
async def gate_before(settings: Settings) -> AsyncIterator[tuple[Gate, Settings]]:
    """A gate before the session service of these settings, and the settings that lead to the gate."""
    assert settings.session_address is not None
    async with open_channel(settings.session_address, settings) as session:
        gate = Gate(session)  # type: ignore[abstract]  # matchmaking calls nothing else

        @asynccontextmanager
        async def compose(runtime: Runtime) -> AsyncIterator[None]:
            session_pb2_grpc.add_SessionServiceServicer_to_server(gate, runtime.server)
            yield

        name = "roundtable.session.v1.SessionService"
        async with serving("gate", name, Settings(drain_seconds=0), compose) as ready:
            yield gate, settings.model_copy(update={"session_address": ready.address})


class Matchmaking:
    """A matchmaking process and a client of it.

    Its tickets have this seed if they name no other, so that tests that share a store do not meet.
    """

    def __init__(self, ready: Ready, channel: aio.Channel, seed: int | None = None) -> None:
        self.ready = ready
        self.seed = seed
        self._stub = matchmaking_pb2_grpc.MatchmakingServiceStub(channel)

    async def create(self, *, request_id: str = "", player_id: str = "gawain", **wish: Any) -> str:
        request = matchmaking_pb2.CreateTicketRequest(
            request_id=request_id or str(uuid.uuid4()),
            player_id=player_id,
            **{"game": "camelot", "seats": 3, "seed": self.seed, **wish},
        )
        return (await self._stub.CreateTicket(request, timeout=SECONDS)).ticket_id

    async def create_all(self, number: int, **wish: Any) -> list[str]:
        """Tickets one after another."""
        return [await self.create(**wish) for _ in range(number)]

    async def delete(self, ticket_id: str) -> None:
        await self._stub.DeleteTicket(matchmaking_pb2.DeleteTicketRequest(ticket_id=ticket_id), timeout=SECONDS)

    async def watch(self, ticket_id: str) -> AsyncIterator[matchmaking_pb2.WatchTicketResponse]:
        call = self._stub.WatchTicket(matchmaking_pb2.WatchTicketRequest(ticket_id=ticket_id), timeout=SECONDS)
        try:
            async for status in call:
                yield status
        finally:
            call.cancel()

    async def status(self, ticket_id: str) -> matchmaking_pb2.WatchTicketResponse:
        """The present one."""
        async for status in self.watch(ticket_id):
            return status
        raise AssertionError("a watch begins with the present status")

    async def waiting(self, ticket_id: str) -> int:
        """How many wait, as the ticket is told at present."""
        return (await self.status(ticket_id)).waiting.waiting

    async def last(self, ticket_id: str) -> matchmaking_pb2.WatchTicketResponse:
        statuses = [status async for status in self.watch(ticket_id)]
        return statuses[-1]

    async def seat(self, ticket_id: str) -> matchmaking_pb2.Matched:
        """The ticket's seat, as soon as it has one."""
        status = await self.last(ticket_id)
        assert status.HasField("matched"), status.WhichOneof("status")
        return status.matched

    async def seats(self, ticket_ids: Sequence[str]) -> list[matchmaking_pb2.Matched]:
        return await asyncio.gather(*map(self.seat, ticket_ids))


@asynccontextmanager
async def matchmaking(processes: Processes, settings: Settings, seed: int | None = None) -> AsyncIterator[Matchmaking]:
    """A matchmaking service as a process of its own; it ends with the processes."""
    ready = await asyncio.to_thread(processes.serve, "matchmaking", settings)
    async with open_channel(ready.address, settings) as channel:
        yield Matchmaking(ready, channel, seed)


async def refusal(call: Awaitable[object]) -> ServiceError:
    """Why a call is refused."""
    with pytest.raises(aio.AioRpcError) as error:
        await call
    return ServiceError.from_rpc_error(error.value, Reason.INTERNAL)
