"""Players as the SDK has them, who write down every attempt and every message, and who are difficult on purpose."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from itertools import count
from random import Random
from types import SimpleNamespace
from typing import Any

from grpc import aio

from clients.players import picks_at_random
from clients.sdk import Entry, Refused, Seat, Ticket, Unavailable
from clients.sdk.calls import Caller
from clients.sdk.errors import CallFailed, call_failed
from clients.sdk.seat import new_request_id
from loadtests.faults.history import OK, UNKNOWN, Broke, History, Opened, Seen, Try, digest_of
from roundtable.matchmaking.v1.matchmaking_pb2_grpc import MatchmakingServiceStub
from roundtable.session.v1 import session_pb2 as session
from roundtable.session.v1.session_pb2_grpc import SessionServiceStub
from roundtable.table.v1.table_pb2 import Decision, Update

ATTEMPT_SECONDS = 2.5
PATIENCE_SECONDS = 45.0
CHANNEL = [
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.service_config", '{"loadBalancingConfig": [{"round_robin": {}}]}'),
    ("grpc.use_local_subchannel_pool", 1),
]

# How often a player is difficult.
_TWICE = 0.1
_TWO_DEVICES = 0.05
_AGAIN = 0.1
_LOOK = 0.05

# What the loser of two devices is told, by how far the game has gone on since.
_LATE = ("ALREADY_APPLIED", "DECISION_CLOSED", "NOT_ASKED", "GAME_OVER")

_streams = count(1)
_clock = time.monotonic


class Client:
    """The services as one player's device reaches them; every attempt and every message goes into its history."""

    def __init__(
        self, sessions: aio.Channel, matchmaking: aio.Channel, history: History, errors: Callable[[str], None]
    ) -> None:
        """
        Args:
            errors: told the text of every refusal and failure.
        """
        self.history = history
        self.caller = Caller(PATIENCE_SECONDS, None)
        self._errors = errors
        to_session, to_matchmaking = SessionServiceStub(sessions), MatchmakingServiceStub(matchmaking)
        # In place of the stubs, whose methods the SDK calls like these.
        self.sessions: Any = SimpleNamespace(
            **{name: self._recorded(name, getattr(to_session, name)) for name in ("CreateGame", "Choose", "GetView")},
            Watch=lambda request: _Feed(self, to_session.Watch(request), request),
        )
        self.matchmaking: Any = SimpleNamespace(
            CreateTicket=self._recorded("CreateTicket", to_matchmaking.CreateTicket),
            WatchTicket=to_matchmaking.WatchTicket,
        )

    async def ticket(self, request: Any) -> Ticket:
        response = await self.caller.call("CreateTicket", self.matchmaking.CreateTicket, request)
        return Ticket(self.caller, self.matchmaking, self.sessions, response.ticket_id)

    async def game(self, request: session.CreateGameRequest) -> session.CreateGameResponse:
        """Creates a game, with the same request twice at once."""
        created: session.CreateGameResponse
        created, _ = await asyncio.gather(
            *(self.caller.call("CreateGame", self.sessions.CreateGame, request) for _ in range(2))
        )
        return created

    def _recorded(self, name: str, rpc: Any) -> Callable[..., Awaitable[Any]]:
        async def attempt(request: Any, timeout: float) -> Any:
            began, answer, said, told = _clock(), UNKNOWN, (-1, ""), {}
            try:
                response = await rpc(request, timeout=min(timeout, ATTEMPT_SECONDS))
            except aio.AioRpcError as error:
                failure = self.failed(error)
                if not isinstance(failure, Unavailable):
                    answer, told = failure.reason or failure.code.name, failure.metadata
                raise
            else:
                answer, said = OK, _said(response)
                return response
            finally:
                asked = (request.decision_id, *request.picks) if name == "Choose" else ()
                request_id = "" if name == "GetView" else request.request_id
                self.history.add(Try(name, request_id, asked, began, _clock(), answer, *said, told))

        return attempt

    def failed(self, error: aio.AioRpcError) -> CallFailed:
        failure = call_failed(error)
        self._errors(f"{failure} {failure.metadata}")
        return failure


class _Feed:
    """In place of the call that the SDK follows."""

    def __init__(self, client: Client, call: Any, request: session.WatchRequest) -> None:
        self._client = client
        self._call = call
        self._number = next(_streams)
        after = request.after if request.HasField("after") else None
        client.history.add(Opened(self._number, _clock(), after))

    async def __aiter__(self) -> AsyncIterator[session.WatchResponse]:
        why = OK
        try:
            async for message in self._call:
                self._client.history.add(_seen(self._number, message))
                yield message
        except aio.AioRpcError as error:
            failure = self._client.failed(error)
            why = failure.reason or failure.code.name
            raise
        finally:
            self._client.history.add(Broke(self._number, _clock(), why))

    def cancel(self) -> None:
        self._call.cancel()


class DifficultSeat(Seat):
    """Asks twice at once, asks again what was answered long ago, and has a second device that disagrees."""

    def __init__(self, client: Client, seat: Seat, random: Random, think: Callable[[], Awaitable[None]]) -> None:
        super().__init__(client.caller, client.sessions, seat.game_id, seat.number, seat.token, seat.commitment)
        self._random = random
        self._think = think
        self._requests: list[session.ChooseRequest] = []

    def watch(
        self, after: str | None = None, *, show_presence: bool = False, **told: Any
    ) -> AsyncGenerator[Entry, None]:
        return super().watch(after, show_presence=self.number % 2 == 0, **told)

    async def choose(self, decision: Decision, picks: Sequence[str]) -> Update:
        await self._think()
        request = self._request(decision, picks)
        requests = [request]
        if self._random.random() < _TWICE:
            requests.append(request)
        if self._random.random() < _TWO_DEVICES:
            requests.append(self._request(decision, picks_at_random(self._random, decision)))
        if self._requests and self._random.random() < _AGAIN:
            requests.append(self._random.choice(self._requests))
        self._requests.append(request)
        self._random.shuffle(requests)
        answers = await asyncio.gather(*map(self._ask, requests), return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException) and not (isinstance(answer, Refused) and answer.reason in _LATE):
                raise answer
        if self._random.random() < _LOOK:
            await self.look()
        answer = answers[requests.index(request)]
        if isinstance(answer, BaseException):
            raise answer
        return answer.update

    def _request(self, decision: Decision, picks: Sequence[str]) -> session.ChooseRequest:
        return session.ChooseRequest(
            game_id=self.game_id,
            seat_token=self.token,
            decision_id=decision.id,
            picks=picks,
            request_id=new_request_id(),
        )

    async def _ask(self, request: session.ChooseRequest) -> session.ChooseResponse:
        return await self._caller.call("Choose", self._service.Choose, request)


def _said(response: Any) -> tuple[int, str]:
    """The version that a response tells, and its digest."""
    match response:
        case session.ChooseResponse():
            return response.update.version, digest_of(response.update)
        case session.GetViewResponse():
            return response.update.version, digest_of(response.view, response.update)
        case _:
            return -1, digest_of(response)


def _seen(stream: int, message: session.WatchResponse) -> Seen:
    kind = message.WhichOneof("entry") or ""
    match kind:
        case "snapshot":
            update, digest = message.snapshot.update, digest_of(message.snapshot.view, message.snapshot.update)
        case "update":
            update, digest = message.update, digest_of(message.update)
        case _:
            return Seen(stream, _clock(), kind, message.cursor)
    return Seen(stream, _clock(), kind, message.cursor, update.version, digest, update.HasField("outcome"))
