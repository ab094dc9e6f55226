"""All seats of a game, held by one test."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from random import Random

import pytest
from grpc import aio

from clients.players import picks_at_random
from roundtable.session.v1 import session_pb2, session_pb2_grpc
from roundtable.table.v1 import table_pb2
from services.runtime.errors import Reason, ServiceError

SECONDS = 20.0
"""For anything to happen that has to."""


def new_request_id() -> str:
    return str(uuid.uuid4())


def new_game(**wish: object) -> session_pb2.CreateGameRequest:
    asked: dict[str, object] = {
        "request_id": new_request_id(),
        "game": "camelot",
        "seats": 5,
        "seed": 1,
        "spectators": True,
        **wish,
    }
    return session_pb2.CreateGameRequest(**asked)  # type: ignore[arg-type]


class Session:
    """A client of one session process."""

    def __init__(self, channel: aio.Channel) -> None:
        self.stub = session_pb2_grpc.SessionServiceStub(channel)
        self._choose_raw: aio.UnaryUnaryMultiCallable[session_pb2.ChooseRequest, bytes] = channel.unary_unary(
            "/roundtable.session.v1.SessionService/Choose",
            request_serializer=session_pb2.ChooseRequest.SerializeToString,
        )

    async def create(self, **wish: object) -> Seats:
        return Seats(await self.stub.CreateGame(new_game(**wish), timeout=SECONDS))

    async def choose_raw(self, request: session_pb2.ChooseRequest) -> bytes:
        """The response as it came."""
        return await self._choose_raw(request, timeout=SECONDS)

    async def choose(self, request: session_pb2.ChooseRequest) -> table_pb2.Update:
        return session_pb2.ChooseResponse.FromString(await self.choose_raw(request)).update

    async def view(self, game_id: str, token: str | None) -> session_pb2.GetViewResponse:
        return await self.stub.GetView(session_pb2.GetViewRequest(game_id=game_id, seat_token=token), timeout=SECONDS)

    async def watch(
        self, game_id: str, token: str | None, after: str | None = None, *, heartbeats: bool = False
    ) -> AsyncIterator[session_pb2.WatchResponse]:
        request = session_pb2.WatchRequest(game_id=game_id, seat_token=token, after=after)
        call = self.stub.Watch(request, timeout=3 * SECONDS)
        try:
            async for response in call:
                if heartbeats or not response.HasField("heartbeat"):
                    yield response
        finally:
            call.cancel()

    async def watch_to_end(
        self, game_id: str, token: str | None, after: str | None = None
    ) -> list[session_pb2.WatchResponse]:
        return [response async for response in self.watch(game_id, token, after)]


@asynccontextmanager
async def client_of(*addresses: str) -> AsyncIterator[list[Session]]:
    options = [("grpc.max_reconnect_backoff_ms", 200), ("grpc.initial_reconnect_backoff_ms", 100)]
    channels = [aio.insecure_channel(address, options=options) for address in addresses]
    try:
        yield [Session(channel) for channel in channels]
    finally:
        for channel in channels:
            await channel.close()


@dataclass
class Move:
    request: session_pb2.ChooseRequest
    response: bytes

    @property
    def update(self) -> table_pb2.Update:
        return session_pb2.ChooseResponse.FromString(self.response).update


class Seats:
    def __init__(self, created: session_pb2.CreateGameResponse) -> None:
        self.created = created
        self.game_id = created.game_id
        self.tokens = list(created.seat_tokens)

    def choice(
        self, seat: int, decision: table_pb2.Decision, picks: Sequence[str] | None = None, **fields: str
    ) -> session_pb2.ChooseRequest:
        """A request to answer a decision; with its default if no picks are given."""
        return session_pb2.ChooseRequest(
            **{
                "game_id": self.game_id,
                "seat_token": self.tokens[seat],
                "decision_id": decision.id,
                "request_id": new_request_id(),
                **fields,
            },
            picks=decision.default if picks is None else picks,
        )

    async def decision(self, session: Session, seat: int) -> table_pb2.Decision:
        return (await session.view(self.game_id, self.tokens[seat])).update.decision

    async def play(self, session: Session, random: Random, moves: int = 100_000) -> list[Move]:
        """Plays at random, one seat at a time, to the end or for a number of moves."""
        made: list[Move] = []
        update = (await session.view(self.game_id, self.tokens[0])).update
        while len(made) < moves and not update.HasField("outcome"):
            seat = random.choice(list(update.asked))
            decision = await self.decision(session, seat)
            request = self.choice(seat, decision, picks_at_random(random, decision))
            made.append(Move(request, await session.choose_raw(request)))
            update = made[-1].update
        return made


@contextmanager
def refused(reason: Reason, metadata: Mapping[str, str] | None = None) -> Iterator[None]:
    """The block is refused for this reason, with at least this metadata."""
    with pytest.raises(aio.AioRpcError) as error:
        yield
    found = ServiceError.from_rpc_error(error.value, Reason.INTERNAL)
    assert (found.reason, error.value.code()) == (reason, reason.code), found
    assert {name: found.metadata.get(name) for name in metadata or {}} == dict(metadata or {})


async def outcome_of(call: asyncio.Task[bytes]) -> ServiceError | bytes:
    try:
        return await call
    except aio.AioRpcError as error:
        return ServiceError.from_rpc_error(error, Reason.INTERNAL)
