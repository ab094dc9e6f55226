"""What the SDK does when services refuse, are away, or break off, shown on a real server that does so on purpose."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from random import Random
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from clients.players import play_at_random, say_at_random
from clients.sdk import (
    AlreadyApplied,
    CallFailed,
    DecisionClosed,
    Entry,
    GameClosed,
    Refused,
    Roundtable,
    Seat,
    ServiceFault,
    TicketCancelled,
    Unavailable,
    connect,
)
from roundtable.matchmaking.v1 import matchmaking_pb2 as matchmaking
from roundtable.matchmaking.v1 import matchmaking_pb2_grpc
from roundtable.session.v1 import session_pb2 as session
from roundtable.session.v1 import session_pb2_grpc
from roundtable.table.v1.table_pb2 import Commitment, Decision, Declaration, Option, Outcome, Record, Update
from services.runtime.errors import Reason, ServiceError
from services.runtime.server import Runtime, serving
from services.runtime.settings import Settings

DECISION = Decision(id="7", seat=2)
COMMITMENT = Commitment(commitment=b"\1" * 32, verifiable=True)


def away() -> ServiceError:
    return ServiceError(Reason.STORE_UNAVAILABLE, "the store does not answer", retry_after=0.01)


class Session(session_pb2_grpc.SessionServiceServicer):
    """Fails as its script says, then answers."""

    def __init__(self) -> None:
        self.failures: list[ServiceError] = []
        self.chosen: list[session.ChooseRequest] = []
        self.orders: list[session.SetStandingOrdersRequest] = []
        self.feeds: list[list[session.WatchResponse | ServiceError]] = []
        self.watched: list[session.WatchRequest] = []
        self.said: list[session.SayRequest] = []
        self.joined: list[session.JoinRequest] = []
        self.left: list[session.LeaveRequest] = []

    async def CreateGame(self, request: session.CreateGameRequest, context: Any) -> session.CreateGameResponse:
        return session.CreateGameResponse(
            game_id="g", seat_tokens=["t0", "t1"], commitment=COMMITMENT, join_token="j" * request.joinable
        )

    async def Choose(self, request: session.ChooseRequest, context: Any) -> session.ChooseResponse:
        self.chosen.append(request)
        if self.failures:
            raise self.failures.pop(0)
        return session.ChooseResponse(update=Update(version=8))

    async def GetView(self, request: session.GetViewRequest, context: Any) -> session.GetViewResponse:
        return session.GetViewResponse(update=Update(version=8), cursor=request.seat_token)

    async def SetStandingOrders(
        self, request: session.SetStandingOrdersRequest, context: Any
    ) -> session.SetStandingOrdersResponse:
        self.orders.append(request)
        return session.SetStandingOrdersResponse(update=Update(version=9))

    async def Watch(self, request: session.WatchRequest, context: Any) -> AsyncIterator[session.WatchResponse]:
        self.watched.append(request)
        for step in self.feeds.pop(0):
            if isinstance(step, ServiceError):
                raise step
            yield step

    async def Explain(self, request: session.ExplainRequest, context: Any) -> session.ExplainResponse:
        return session.ExplainResponse(offered=False, rule="R3.3", condition=f"why not {request.candidate}")

    async def GetRecord(self, request: session.GetRecordRequest, context: Any) -> session.GetRecordResponse:
        return session.GetRecordResponse(record=Record(game_id=request.game_id))

    async def ListDeclarations(
        self, request: session.ListDeclarationsRequest, context: Any
    ) -> session.ListDeclarationsResponse:
        return session.ListDeclarationsResponse(declarations=[Declaration(id="agree"), Declaration(id="disagree")])

    async def Say(self, request: session.SayRequest, context: Any) -> session.SayResponse:
        self.said.append(request)
        if self.failures:
            raise self.failures.pop(0)
        return session.SayResponse()

    async def Join(self, request: session.JoinRequest, context: Any) -> session.JoinResponse:
        self.joined.append(request)
        if self.failures:
            raise self.failures.pop(0)
        return session.JoinResponse(seat=2, seat_token="t2", commitment=COMMITMENT)

    async def Leave(self, request: session.LeaveRequest, context: Any) -> session.LeaveResponse:
        self.left.append(request)
        if self.failures:
            raise self.failures.pop(0)
        return session.LeaveResponse(update=Update(version=10))

    async def ListGames(self, request: session.ListGamesRequest, context: Any) -> session.ListGamesResponse:
        page = int(request.page_token or "0")
        games = [session.PlayerGame(game_id=f"{request.player_id} {request.player_token} {page}")]
        return session.ListGamesResponse(games=games, next_page_token=str(page + 1) if page < 2 else "")


class Matchmaking(matchmaking_pb2_grpc.MatchmakingServiceServicer):
    def __init__(self) -> None:
        self.tickets: list[matchmaking.CreateTicketRequest] = []
        self.statuses: list[matchmaking.WatchTicketResponse | ServiceError] = []
        self.deleted: list[str] = []

    async def CreateTicket(
        self, request: matchmaking.CreateTicketRequest, context: Any
    ) -> matchmaking.CreateTicketResponse:
        self.tickets.append(request)
        return matchmaking.CreateTicketResponse(ticket_id="ticket")

    async def WatchTicket(
        self, request: matchmaking.WatchTicketRequest, context: Any
    ) -> AsyncIterator[matchmaking.WatchTicketResponse]:
        while self.statuses:
            step = self.statuses.pop(0)
            if isinstance(step, ServiceError):
                raise step
            yield step

    async def DeleteTicket(
        self, request: matchmaking.DeleteTicketRequest, context: Any
    ) -> matchmaking.DeleteTicketResponse:
        self.deleted.append(request.ticket_id)
        return matchmaking.DeleteTicketResponse()


class Bench:
    def __init__(self) -> None:
        self.session = Session()
        self.matchmaking = Matchmaking()
        self.measured: list[tuple[str, float]] = []
        self.roundtable: Roundtable

    async def seat(self) -> Seat:
        return (await self.roundtable.create_game("camelot", 2))[1]

    @asynccontextmanager
    async def compose(self, runtime: Runtime) -> AsyncIterator[None]:
        session_pb2_grpc.add_SessionServiceServicer_to_server(self.session, runtime.server)
        matchmaking_pb2_grpc.add_MatchmakingServiceServicer_to_server(self.matchmaking, runtime.server)
        yield


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    bench = Bench()
    settings = Settings(drain_seconds=1)
    async with (
        serving("session", "roundtable.session.v1.SessionService", settings, bench.compose) as ready,
        connect(
            ready.address,
            ready.address,
            patience=1.0,
            measured=lambda call, seconds: bench.measured.append((call, seconds)),
        ) as bench.roundtable,
    ):
        yield bench


def step(cursor: str, *, over: bool = False) -> session.WatchResponse:
    outcome = Outcome(ending="siege", rule="R16.1") if over else None
    return session.WatchResponse(cursor=cursor, update=Update(version=int(cursor), outcome=outcome))


def snapshot(cursor: str) -> session.WatchResponse:
    return session.WatchResponse(cursor=cursor, snapshot=session.Snapshot(update=Update(version=int(cursor))))


async def entries(seat: Seat) -> list[Entry]:
    async with aclosing(seat.watch()) as feed:
        return [entry async for entry in feed]


async def test_a_choice_is_repeated_with_its_request_id_while_the_service_is_away(bench: Bench) -> None:
    seat = await bench.seat()
    bench.session.failures = [away(), away()]

    update = await seat.choose(DECISION, ["pass"])

    assert update.version == 8
    assert len(bench.session.chosen) == 3
    assert len({request.SerializeToString() for request in bench.session.chosen}) == 1
    assert bench.session.chosen[0].request_id


async def test_every_choice_has_a_request_id_of_its_own(bench: Bench) -> None:
    seat = await bench.seat()

    await seat.choose(DECISION, ["pass"])
    await seat.choose(DECISION, ["pass"])

    first, second = bench.session.chosen
    assert first.request_id != second.request_id


async def test_patience_ends(bench: Bench) -> None:
    seat = await bench.seat()
    bench.session.failures = [ServiceError(Reason.STORE_UNAVAILABLE, "gone", retry_after=30)]

    with pytest.raises(Unavailable) as failure:
        await seat.choose(DECISION, ["pass"])

    assert (failure.value.reason, failure.value.retry_after) == ("STORE_UNAVAILABLE", 30)
    assert len(bench.session.chosen) == 1


async def test_a_refusal_carries_reason_and_facts_and_is_not_repeated(bench: Bench) -> None:
    seat = await bench.seat()
    bench.session.failures = [
        ServiceError(Reason.UNKNOWN_OPTION, "not offered", field="picks", rule="R6.7", metadata={"pick": "move:moon"})
    ]

    with pytest.raises(Refused) as failure:
        await seat.choose(DECISION, ["move:moon"])

    assert failure.value.code is grpc.StatusCode.INVALID_ARGUMENT
    assert failure.value.reason == "UNKNOWN_OPTION"
    assert failure.value.metadata == {"field": "picks", "rule": "R6.7", "pick": "move:moon"}
    assert len(bench.session.chosen) == 1


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        (Reason.DECISION_CLOSED, DecisionClosed),
        (Reason.ALREADY_APPLIED, AlreadyApplied),
        (Reason.SEAT_TOKEN_INVALID, Refused),
        (Reason.INTERNAL, ServiceFault),
    ],
)
async def test_errors_are_told_apart_by_type(bench: Bench, reason: Reason, kind: type[CallFailed]) -> None:
    seat = await bench.seat()
    bench.session.failures = [ServiceError(reason, "no")]

    with pytest.raises(CallFailed) as failure:
        await seat.choose(DECISION, ["pass"])

    assert type(failure.value) is kind
    assert failure.value.reason == reason


async def test_whatever_says_when_to_come_back_is_repeated(bench: Bench) -> None:
    seat = await bench.seat()
    bench.session.failures = [ServiceError(Reason.MESSAGE_TOO_LARGE, "too much at once", retry_after=0.01)]

    assert (await seat.choose(DECISION, ["pass"])).version == 8


async def test_calls_are_measured_with_their_repetitions(bench: Bench) -> None:
    seat = await bench.seat()
    bench.session.failures = [ServiceError(Reason.STORE_UNAVAILABLE, "away", retry_after=0.2)]

    await seat.choose(DECISION, ["pass"])

    (_, choose) = bench.measured
    assert choose[0] == "Choose"
    assert choose[1] >= 0.2


async def test_a_feed_goes_on_where_it_broke_off_and_ends_with_the_outcome(bench: Bench) -> None:
    seat = await bench.seat()
    bench.session.feeds = [
        [snapshot("1"), step("2"), away()],
        [session.WatchResponse(cursor="2", heartbeat=session.Heartbeat())],
        [step("3"), step("4", over=True), step("5")],
    ]

    seen = await entries(seat)

    assert [entry.update.version for entry in seen] == [1, 2, 3, 4]
    assert [entry.view is not None for entry in seen] == [True, False, False, False]
    assert [request.after for request in bench.session.watched] == ["", "2", "2"]
    assert not bench.session.watched[0].HasField("after")


async def test_a_feed_with_a_lost_cursor_starts_with_the_present(bench: Bench) -> None:
    seat = await bench.seat()
    bench.session.feeds = [
        [snapshot("5"), away()],
        [ServiceError(Reason.CURSOR_UNKNOWN, "from a lost future")],
        [snapshot("3"), step("4", over=True)],
    ]

    assert [entry.update.version for entry in await entries(seat)] == [5, 3, 4]
    assert not bench.session.watched[-1].HasField("after")


async def test_a_player_answers_a_decision_once_and_again_after_its_answer_was_lost(bench: Bench) -> None:
    seat = await bench.seat()
    decision = Decision(id="7", options=[Option(id="pass")], min=1, max=1)
    asked, still_asked = (session.WatchResponse(cursor=c, update=Update(version=5, decision=decision)) for c in "56")
    rolled_back = session.WatchResponse(cursor="3", snapshot=session.Snapshot(update=asked.update))
    bench.session.feeds = [
        [asked, still_asked, away()],
        [ServiceError(Reason.CURSOR_UNKNOWN, "from a lost future")],
        [rolled_back, step("8", over=True)],
    ]
    seen: list[int] = []

    await play_at_random(seat, Random(1), saw=lambda update: seen.append(update.version))

    assert seen == [5, 5, 5, 8]
    assert [request.decision_id for request in bench.session.chosen] == ["7", "7"]


async def test_a_feed_of_a_closed_game_ends_with_the_reason_and_its_record_can_be_had(bench: Bench) -> None:
    seat = await bench.seat()
    closed = session.WatchResponse(cursor="3", closed=session.Closed(reason="abandoned"))
    bench.session.feeds = [[snapshot("1"), session.WatchResponse(cursor="2", presence=session.Presence()), closed]]

    with pytest.raises(GameClosed, match="abandoned"):
        await entries(seat)

    assert (await seat.record()).game_id == "g"


async def test_a_feed_tells_who_is_connected_whenever_that_changes(bench: Bench) -> None:
    def presence(seat: int, second: int, *, here: bool = True) -> session.Presence:
        return session.Presence(seat=seat, connected=here, since=Timestamp(seconds=second))

    def told(seat: int, second: int, *, here: bool = True) -> session.WatchResponse:
        return session.WatchResponse(cursor="1", presence=presence(seat, second, here=here))

    first, again = snapshot("1"), snapshot("7")
    first.snapshot.present.append(presence(2, 10))
    again.snapshot.present.append(presence(0, 20))
    seat = await bench.seat()
    bench.session.feeds = [
        [first, told(2, 10), told(0, 20), step("2"), told(2, 30, here=False), away()],
        [told(3, 40), again, step("8", over=True)],
    ]
    changes: list[Mapping[int, datetime]] = []

    async with aclosing(seat.watch(connected=changes.append)) as feed:
        seen = [entry.update.version async for entry in feed]

    assert seen == [1, 2, 7, 8]
    assert [{each: int(since.timestamp()) for each, since in change.items()} for change in changes] == [
        {2: 10},
        {2: 10, 0: 20},
        {0: 20},
        {0: 20, 3: 40},
        {0: 20},
    ]


async def test_a_refused_feed_ends_at_once(bench: Bench) -> None:
    seat = await bench.seat()
    bench.session.feeds = [[ServiceError(Reason.SEAT_TOKEN_INVALID, "not yours")]]

    with pytest.raises(Refused):
        await entries(seat)


async def test_a_ticket_leads_to_a_seat_across_a_broken_stream(bench: Bench) -> None:
    waiting = matchmaking.WatchTicketResponse(waiting=matchmaking.Waiting(waiting=1, needed=2))
    matched = matchmaking.Matched(game_id="g", seat=1, seat_token="t1", commitment=COMMITMENT)
    bench.matchmaking.statuses = [waiting, away(), matchmaking.WatchTicketResponse(matched=matched)]
    told: list[tuple[int, int]] = []

    ticket = await bench.roundtable.queue("ada", "camelot", 2, options={"a": "b"}, seed=0)
    seat = await ticket.seated(lambda *counts: told.append(counts))

    assert (seat.game_id, seat.number, seat.token, seat.commitment) == ("g", 1, "t1", COMMITMENT)
    assert told == [(1, 2)]
    (request,) = bench.matchmaking.tickets
    assert (request.player_id, request.game, request.seats, dict(request.options)) == ("ada", "camelot", 2, {"a": "b"})
    assert request.HasField("seed")


async def test_a_ticket_without_seed_asks_for_none(bench: Bench) -> None:
    await bench.roundtable.queue("ada", "camelot", 2)

    assert not bench.matchmaking.tickets[0].HasField("seed")


async def test_a_ticket_can_be_taken_back(bench: Bench) -> None:
    ticket = await bench.roundtable.queue("ada", "camelot", 2)

    await ticket.take_back()

    assert bench.matchmaking.deleted == ["ticket"]


async def test_a_seat_looks_and_gives_standing_orders_with_its_token(bench: Bench) -> None:
    seat = await bench.seat()

    assert (await seat.look()).cursor == "t1"
    assert (await seat.set_standing_orders({"pledge_merlin": "pass"})).version == 9

    (request,) = bench.session.orders
    assert (request.game_id, request.seat_token, dict(request.orders)) == ("g", "t1", {"pledge_merlin": "pass"})
    assert request.request_id


async def test_a_cancelled_ticket_gets_no_seat(bench: Bench) -> None:
    bench.matchmaking.statuses = [matchmaking.WatchTicketResponse(cancelled=matchmaking.Cancelled())]
    ticket = await bench.roundtable.queue("ada", "camelot", 2)

    with pytest.raises(TicketCancelled):
        await ticket.seated()


async def test_a_cancelled_call_is_left_at_once(bench: Bench) -> None:
    seat = await bench.seat()
    bench.session.failures = [ServiceError(Reason.STORE_UNAVAILABLE, "away", retry_after=0.9)]
    call = asyncio.create_task(seat.choose(DECISION, ["pass"]))
    while not bench.session.chosen:
        await asyncio.sleep(0.001)

    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call


async def test_something_is_said_once_and_waits_for_its_time(bench: Bench) -> None:
    seat = await bench.seat()
    bench.session.failures = [away(), ServiceError(Reason.TALKING_TOO_FAST, "too fast", retry_after=0.01)]

    agree, _ = await seat.declarations()
    await seat.say(agree)

    first, second, third = bench.session.said
    assert first == second == third
    assert (first.game_id, first.seat_token, first.declaration_id) == ("g", "t1", "agree")

    bench.session.failures = [ServiceError(Reason.SAID_ALREADY, "said")]
    with pytest.raises(Refused) as failure:
        await seat.say(agree)
    assert failure.value.reason == "SAID_ALREADY"
    assert bench.session.said[-1].request_id != first.request_id


async def test_what_is_said_is_heard_beside_the_feed(bench: Bench) -> None:
    seat = await bench.seat()
    said = session.Said(seat=1, declaration=Declaration(id="agree"))
    bench.session.feeds = [
        [snapshot("1"), session.WatchResponse(cursor="2", said=said), away()],
        [step("3", over=True)],
    ]
    heard: list[session.Said] = []

    async with aclosing(seat.watch(heard=heard.append)) as feed:
        seen = [entry.update.version async for entry in feed]

    assert (seen, heard) == ([1, 3], [said])
    assert bench.session.watched[-1].after == "2"


async def test_newcomers_join_with_the_token_of_the_game_once(bench: Bench) -> None:
    seats, join_token = await bench.roundtable.create_joinable_game("camelot", 2)
    bench.session.failures = [away()]

    seat = await bench.roundtable.join(seats[0].game_id, join_token)

    assert (seat.game_id, seat.number, seat.token, seat.commitment) == ("g", 2, "t2", COMMITMENT)
    first, second = bench.session.joined
    assert first == second
    assert (first.game_id, first.join_token, len(first.request_id)) == ("g", "j", 36)


async def test_a_seat_leaves_once(bench: Bench) -> None:
    seat = await bench.seat()
    bench.session.failures = [away()]

    assert (await seat.leave()).version == 10

    first, second = bench.session.left
    assert first == second
    assert (first.game_id, first.seat_token) == ("g", "t1")


async def test_a_talkative_player_says_something_before_each_choice_and_others_nothing(bench: Bench) -> None:
    seat = await bench.seat()
    decision = Decision(id="7", options=[Option(id="pass")], min=1, max=1)
    asked = session.WatchResponse(cursor="5", update=Update(version=5, decision=decision))
    for talk, said in ((0.0, 0), (1.0, 1)):
        bench.session.feeds = [[asked, step("8", over=True)]]
        await play_at_random(seat, Random(1), talk=talk)
        assert len(bench.session.said) == said

    # What was said just before is no reason to stop.
    bench.session.failures = [ServiceError(Reason.SAID_ALREADY, "said")]
    await say_at_random(seat, Random(1))
    assert {request.declaration_id for request in bench.session.said} <= {"agree", "disagree"}


async def test_all_pages_of_a_players_games_are_listed(bench: Bench) -> None:
    found = [game.game_id async for game in bench.roundtable.games("alice", "token")]

    assert found == ["alice token 0", "alice token 1", "alice token 2"]


async def test_a_seat_asks_why_it_is_not_offered_something(bench: Bench) -> None:
    why = await (await bench.seat()).explain("move:grail")

    assert (why.offered, why.rule, why.condition) == (False, "R3.3", "why not move:grail")
