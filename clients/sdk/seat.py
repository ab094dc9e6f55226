"""A seat in a game, as its player holds it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from grpc import aio

from clients.sdk.calls import Caller
from clients.sdk.errors import CursorLost, GameClosed
from roundtable.session.v1 import session_pb2 as session
from roundtable.table.v1.table_pb2 import Commitment, Decision, Declaration, Record, Update, View

if TYPE_CHECKING:  # there are no such classes when the program runs
    from roundtable.session.v1.session_pb2_grpc import SessionServiceAsyncStub


def new_request_id() -> str:
    return str(uuid.uuid4())


@dataclass(frozen=True)
class Entry:
    """One entry of a seat's feed."""

    update: Update
    view: View | None
    """Everything the seat may know; only where the feed starts, or could not be continued."""
    cursor: str
    at: datetime


class Seat:
    """Whoever has the token is the seat."""

    def __init__(
        self,
        caller: Caller,
        service: SessionServiceAsyncStub,
        game_id: str,
        number: int,
        token: str,
        commitment: Commitment,
    ) -> None:
        self._caller = caller
        self._service = service
        self.game_id = game_id
        self.number = number
        self.token = token
        self.commitment = commitment

    async def look(self) -> session.GetViewResponse:
        """What the seat may know at this moment."""
        request = session.GetViewRequest(game_id=self.game_id, seat_token=self.token)
        return await self._caller.call("GetView", self._service.GetView, request)

    async def watch(
        self,
        after: str | None = None,
        *,
        show_presence: bool = False,
        connected: Callable[[Mapping[int, datetime]], None] = lambda _since: None,
        heard: Callable[[session.Said], None] = lambda _said: None,
    ) -> AsyncGenerator[Entry, None]:
        """The seat's feed to the end of the game, each entry once, across broken connections. To be closed by whoever
        leaves it earlier.

        Args:
            after: cursor of the last entry already seen; without one the feed starts with the present.
            show_presence: the others are told that this seat is connected.
            connected: told which seats show that they are connected, and since when, whenever that changes. After a
                cursor, only those that come later are known.
            heard: told of everything that is said, by this seat too.

        Raises:
            GameClosed: the game was closed before its end.
        """

        def start() -> aio.UnaryStreamCall[session.WatchRequest, session.WatchResponse]:
            request = session.WatchRequest(
                game_id=self.game_id, seat_token=self.token, after=after, show_presence=show_presence
            )
            return self._service.Watch(request)

        present: dict[int, datetime] = {}
        while True:
            try:
                async with aclosing(self._caller.follow(start)) as responses:
                    async for response in responses:
                        after = response.cursor
                        if response.HasField("closed"):
                            raise GameClosed(response.closed.reason)
                        if _note_presence(present, response):
                            connected(dict(present))
                        if response.HasField("said"):
                            heard(response.said)
                        entry = _entry(response)
                        if entry is not None:
                            yield entry
                            if entry.update.HasField("outcome"):
                                return
            except CursorLost:
                after = None

    async def explain(self, candidate: str) -> session.ExplainResponse:
        """Why an option, by its id, is or is not offered to the seat now."""
        request = session.ExplainRequest(game_id=self.game_id, seat_token=self.token, candidate=candidate)
        return await self._caller.call("Explain", self._service.Explain, request)

    async def record(self) -> Record:
        """The whole game once it is over; before, the seat's own inputs."""
        request = session.GetRecordRequest(game_id=self.game_id, seat_token=self.token)
        return (await self._caller.call("GetRecord", self._service.GetRecord, request)).record

    async def choose(self, decision: Decision, picks: Sequence[str]) -> Update:
        """Answers the seat's open decision; once this returns, the move is stored. It is repeated safely while the
        service is away.

        Args:
            picks: ids of the picked options.

        Raises:
            DecisionClosed: it is settled already.
            AlreadyApplied: this answer was stored, and what came of it is no longer kept for repetition.
            CallFailed: any other refusal.
        """
        request = session.ChooseRequest(
            game_id=self.game_id,
            seat_token=self.token,
            decision_id=decision.id,
            picks=picks,
            request_id=new_request_id(),
        )
        return (await self._caller.call("Choose", self._service.Choose, request)).update

    async def set_standing_orders(self, orders: Mapping[str, str]) -> Update:
        """Replaces the seat's stored answers: option id by key of the question."""
        request = session.SetStandingOrdersRequest(
            game_id=self.game_id, seat_token=self.token, request_id=new_request_id(), orders=orders
        )
        return (await self._caller.call("SetStandingOrders", self._service.SetStandingOrders, request)).update

    async def declarations(self) -> Sequence[Declaration]:
        """What the seat may say now."""
        request = session.ListDeclarationsRequest(game_id=self.game_id, seat_token=self.token)
        return (await self._caller.call("ListDeclarations", self._service.ListDeclarations, request)).declarations

    async def say(self, declaration: Declaration) -> None:
        """Says something to everybody, once; waits for its time if the seat talks too fast.

        Raises:
            CallFailed: it cannot be said now; the reasons `SAID_ALREADY` and `SAID_ENOUGH` hold until the turn ends.
        """
        request = session.SayRequest(
            game_id=self.game_id,
            seat_token=self.token,
            declaration_id=declaration.id,
            request_id=new_request_id(),
        )
        await self._caller.call("Say", self._service.Say, request)

    async def leave(self) -> Update:
        """Gives up the seat for good; it can still look and watch.

        Raises:
            CallFailed: the rules do not let it leave now, or it has left already.
        """
        request = session.LeaveRequest(game_id=self.game_id, seat_token=self.token, request_id=new_request_id())
        return (await self._caller.call("Leave", self._service.Leave, request)).update


def _note_presence(present: dict[int, datetime], response: session.WatchResponse) -> bool:
    """Whether something has changed."""
    before = dict(present)
    match response.WhichOneof("entry"):
        case "snapshot":
            present.clear()
            present.update((each.seat, each.since.ToDatetime(UTC)) for each in response.snapshot.present)
        case "presence" if response.presence.connected:
            present[response.presence.seat] = response.presence.since.ToDatetime(UTC)
        case "presence":
            present.pop(response.presence.seat, None)
    return present != before


def _entry(response: session.WatchResponse) -> Entry | None:
    """None for a heartbeat, for what tells of presence, and for what is said."""
    at = response.at.ToDatetime(UTC)
    match response.WhichOneof("entry"):
        case "snapshot":
            return Entry(response.snapshot.update, response.snapshot.view, response.cursor, at)
        case "update":
            return Entry(response.update, None, response.cursor, at)
        case _:
            return None
