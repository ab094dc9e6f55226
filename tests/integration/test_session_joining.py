"""Seats that come and go, through real session processes and an engine with a game that lets them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from random import Random

import pytest
from google.protobuf.wrappers_pb2 import StringValue
from grpc.aio import AioRpcError
from redis import Redis

from roundtable.engine.v1 import engine_pb2
from roundtable.session.v1 import session_pb2
from roundtable.table.v1 import table_pb2
from services.runtime.errors import Reason, ServiceError
from services.runtime.processes import Processes
from services.runtime.server import Ready
from services.runtime.settings import Settings, required
from services.runtime.store import open_store
from services.session import inspection
from services.session.engines import open_engines
from services.session.keys import find_game
from services.session.log import decode_input
from services.session.store import games_of
from tests.integration.conftest import client_of_store
from tests.integration.seats import SECONDS, Seats, Session, client_of, new_game, new_request_id, refused
from tests.integration.toy_engine import serve_toy_engine

SEED = 20261205


@pytest.fixture(scope="module")
def toy_settings(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with Processes(logs=tmp_path_factory.mktemp("toy_engine")) as processes:
        engine = serve_toy_engine(processes, settings)
        yield settings.model_copy(update={"engine_addresses": (engine.address,)})


@pytest.fixture(scope="module")
def toy_sessions(toy_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Ready, Ready]]:
    with Processes(logs=tmp_path_factory.mktemp("toy_sessions")) as processes:
        yield processes.serve("session", toy_settings), processes.serve("session", toy_settings)


@pytest.fixture
async def both(toy_sessions: tuple[Ready, Ready]) -> AsyncIterator[list[Session]]:
    """Clients of two session processes."""
    async with client_of(*(ready.address for ready in toy_sessions)) as clients:
        yield clients


def toy(**wish: object) -> session_pb2.CreateGameRequest:
    return new_game(**{"game": "toy", "seats": 2, "joinable": True, "options": {"rounds": "9"}, **wish})


async def begin(session: Session, **wish: object) -> Seats:
    return Seats(await session.stub.CreateGame(toy(**wish), timeout=SECONDS))


def joining(seats: Seats, **fields: str) -> session_pb2.JoinRequest:
    return session_pb2.JoinRequest(
        **{
            "game_id": seats.game_id,
            "join_token": seats.created.join_token,
            "request_id": new_request_id(),
            **fields,
        }
    )


async def join(session: Session, request: session_pb2.JoinRequest) -> session_pb2.JoinResponse:
    return await session.stub.Join(request, timeout=SECONDS)


def leaving(seats: Seats, seat: int, **fields: str) -> session_pb2.LeaveRequest:
    return session_pb2.LeaveRequest(
        **{"game_id": seats.game_id, "seat_token": seats.tokens[seat], "request_id": new_request_id(), **fields}
    )


async def leave(session: Session, request: session_pb2.LeaveRequest) -> table_pb2.Update:
    return (await session.stub.Leave(request, timeout=SECONDS)).update


async def vote(session: Session, seats: Seats) -> table_pb2.Update:
    """Puts a vote before everybody and has all but nobody answer."""
    chair = (await session.view(seats.game_id, seats.tokens[0])).update.asked[0]
    decision = await seats.decision(session, chair)
    assert decision.key == "topic"
    return await session.choose(seats.choice(chair, decision, ["topic:vote"]))


async def abstain(session: Session, seats: Seats, voters: list[int]) -> table_pb2.Update:
    for voter in voters:
        update = await session.choose(seats.choice(voter, await seats.decision(session, voter), ["pass"]))
    return update


def kinds(update: table_pb2.Update) -> list[str]:
    return [event.kind for event in update.events]


def seen(response: session_pb2.GetViewResponse) -> str:
    text = StringValue()
    assert response.view.detail.Unpack(text)
    return text.value


def log_of(seats: Seats, store_url: str) -> list[engine_pb2.LoggedInput]:
    store: Redis = client_of_store(store_url)
    entries = store.lrange(find_game(seats.game_id).log, 0, -1)
    return [decode_input(entry) for entry in entries if isinstance(entry, bytes)]


# Joining


async def test_a_newcomer_gets_a_seat_and_plays(both: list[Session], store_url: str) -> None:
    seats = await begin(both[0])
    before = await both[0].view(seats.game_id, None)
    assert (await vote(both[0], seats)).version == 1

    joined = await join(both[1], joining(seats))

    assert (joined.seat, len(joined.seat_token)) == (2, 43)
    assert joined.seat_token not in (*seats.tokens, seats.created.join_token)
    assert joined.commitment == seats.created.commitment
    seats.tokens.append(joined.seat_token)
    view = await both[0].view(seats.game_id, joined.seat_token)
    assert (view.view.seat, view.update.version, list(view.update.asked)) == (2, 2, [0, 1])
    # He sits down when the turn is over.
    update = await abstain(both[0], seats, [0, 1])
    assert kinds(update)[-1] == "came"
    assert "seats=(0, 1, 2)" in seen(await both[1].view(seats.game_id, joined.seat_token))
    # All hear of it, himself too, each from his own place.
    watching = both[1].watch(seats.game_id, None, before.cursor)
    entries = [(await anext(watching)).update for _ in range(4)]
    assert [each.version for each in entries] == [1, 2, 3, 4]
    assert kinds(entries[3])[-1] == "came"
    own = await anext(both[0].watch(seats.game_id, joined.seat_token, view.cursor))
    assert own.update.version == 3
    # The next vote asks him.
    await vote(both[0], seats)
    await abstain(both[1], seats, [2, 0, 1])
    assert [(each.kind, each.seat) for each in log_of(seats, store_url)][:2] == [
        (engine_pb2.INPUT_KIND_ANSWER, 0),
        (engine_pb2.INPUT_KIND_JOIN, 2),
    ]


async def test_a_repeated_join_is_the_same_seat(both: list[Session]) -> None:
    seats = await begin(both[0])
    request = joining(seats)

    answers = await asyncio.gather(*(join(each, request) for each in both * 2))
    await vote(both[0], seats)
    await abstain(both[0], seats, [0, 1])
    answers.append(await join(both[1], request))

    assert all(answer == answers[0] for answer in answers)
    assert "seats=(0, 1, 2)" in seen(await both[0].view(seats.game_id, None))
    assert (await both[0].view(seats.game_id, answers[0].seat_token)).view.seat == 2


async def test_several_newcomers_at_once_get_a_seat_each_as_long_as_there_are_some(both: list[Session]) -> None:
    seats = await begin(both[0])

    calls = [each.stub.Join(joining(seats), timeout=SECONDS) for each in (*both, both[0])]
    answers = await asyncio.gather(*calls, return_exceptions=True)

    refusals = [ServiceError.from_rpc_error(each, Reason.INTERNAL) for each in answers if isinstance(each, AioRpcError)]
    joined = [each for each in answers if isinstance(each, session_pb2.JoinResponse)]
    assert [(refusal.reason, refusal.field) for refusal in refusals] == [(Reason.SEATS_FIXED, None)]
    assert sorted(each.seat for each in joined) == [2, 3]
    for each in joined:
        assert (await both[0].view(seats.game_id, each.seat_token)).view.seat == each.seat


async def test_a_repeated_creation_gives_the_same_join_token(both: list[Session]) -> None:
    request = toy()
    first, second = await asyncio.gather(*(each.stub.CreateGame(request, timeout=SECONDS) for each in both))

    assert first == second
    assert len(first.join_token) == 43
    assert len({first.join_token, *first.seat_tokens}) == 3
    request.joinable = False
    with refused(Reason.REQUEST_ID_REUSED):
        await both[0].stub.CreateGame(request, timeout=SECONDS)


async def test_only_the_join_token_of_a_joinable_game_lets_in(session: Session) -> None:
    seats, other, closed = await begin(session), await begin(session), await begin(session, joinable=False)
    request = joining(seats)
    await join(session, request)

    assert closed.created.join_token == ""
    for wrong in (
        joining(seats, join_token=other.created.join_token),
        joining(seats, join_token=seats.tokens[0]),
        joining(seats, join_token=other.created.join_token, request_id=request.request_id),
        joining(closed, join_token=seats.created.join_token),
    ):
        with refused(Reason.JOIN_TOKEN_INVALID, {"field": "join_token"}):
            await join(session, wrong)
    # It opens the door, and is nobody's seat.
    with refused(Reason.SEAT_TOKEN_INVALID):
        await session.view(seats.game_id, seats.created.join_token)
    assert (await session.view(seats.game_id, None)).update.version == 1


@pytest.mark.parametrize(
    ("change", "reason", "field"),
    [
        ({"game_id": ""}, Reason.FIELD_MISSING, "game_id"),
        ({"game_id": "b1-" + "a" * 24}, Reason.GAME_NOT_FOUND, "game_id"),
        ({"join_token": ""}, Reason.FIELD_MISSING, "join_token"),
        ({"join_token": "x" * 65}, Reason.FIELD_TOO_LONG, "join_token"),
        ({"request_id": ""}, Reason.FIELD_MISSING, "request_id"),
        ({"request_id": "x" * 15}, Reason.FIELD_INVALID, "request_id"),
        ({"request_id": "x" * 65}, Reason.FIELD_TOO_LONG, "request_id"),
    ],
)
async def test_a_bad_join_is_refused(session: Session, change: dict[str, str], reason: Reason, field: str) -> None:
    seats = await begin(session)
    with refused(reason, {"field": field}):
        await join(session, joining(seats, **change))
    assert (await session.view(seats.game_id, None)).update.version == 0


async def test_the_rules_may_let_nobody_join(session: Session) -> None:
    seats = await begin(session, options={"comings": "false"})
    with refused(Reason.SEATS_FIXED):
        await join(session, joining(seats))


async def test_newcomers_are_shown_as_connected(both: list[Session]) -> None:
    seats = await begin(both[0])
    joined = await join(both[0], joining(seats))
    request = session_pb2.WatchRequest(game_id=seats.game_id, seat_token=joined.seat_token, show_presence=True)
    showing = both[0].stub.Watch(request, timeout=SECONDS)
    try:
        watching = both[1].watch(seats.game_id, seats.tokens[0])
        entry = await anext(watching)
        present = [each.seat for each in entry.snapshot.present] or [(await anext(watching)).presence.seat]
        assert present == [2]
        snapshot = (await anext(both[1].watch(seats.game_id, None))).snapshot
        assert [each.seat for each in snapshot.present] == [2]
    finally:
        showing.cancel()


# Leaving


async def test_a_seat_that_leaves_drops_out_and_can_only_watch(both: list[Session], store_url: str) -> None:
    seats = await begin(both[0], seats=3)
    orders = session_pb2.SetStandingOrdersRequest(
        game_id=seats.game_id, seat_token=seats.tokens[1], request_id="orders", orders={"nothing": "pass"}
    )
    await both[0].stub.SetStandingOrders(orders, timeout=SECONDS)
    await vote(both[0], seats)
    open_decision = await seats.decision(both[0], 1)
    start = (await both[0].view(seats.game_id, None)).cursor
    request = leaving(seats, 1)

    update = await leave(both[0], request)

    assert (update.version, list(update.asked), update.HasField("decision")) == (3, [0, 2], False)
    orders.request_id = "others"
    for call in (
        lambda: both[0].choose(seats.choice(1, open_decision)),
        lambda: both[1].stub.SetStandingOrders(orders, timeout=SECONDS),
        lambda: leave(both[0], leaving(seats, 1)),
        lambda: both[1].stub.Say(
            session_pb2.SayRequest(
                game_id=seats.game_id, seat_token=seats.tokens[1], declaration_id="x", request_id="x"
            ),
            timeout=SECONDS,
        ),
    ):
        with refused(Reason.SEAT_LEFT, {"field": "seat_token"}):
            await call()
    with refused(Reason.REQUEST_ID_REUSED):
        await both[0].choose(seats.choice(1, open_decision, request_id=request.request_id))
    # The vote goes on without the seat, and the leaver sees the rest as everybody does.
    await abstain(both[1], seats, [0, 2])
    for token in (seats.tokens[1], None):
        watching = both[0].watch(seats.game_id, token, start)
        entries = [(await anext(watching)).update for _ in range(3)]
        assert [each.version for each in entries] == [3, 4, 5]
        assert kinds(entries[2])[-1] == "went"
    view = await both[1].view(seats.game_id, seats.tokens[1])
    assert (view.view.seat, list(view.update.asked)) == (1, [2])
    assert "seats=(0, 2)" in seen(view)
    assert [(each.kind, each.seat) for each in log_of(seats, store_url)] == [
        (engine_pb2.INPUT_KIND_STANDING_ORDERS, 1),
        (engine_pb2.INPUT_KIND_ANSWER, 0),
        (engine_pb2.INPUT_KIND_LEAVE, 1),
        (engine_pb2.INPUT_KIND_ANSWER, 0),
        (engine_pb2.INPUT_KIND_ANSWER, 2),
    ]


async def test_a_repeated_leave_gets_the_same_answer_and_leaves_once(both: list[Session]) -> None:
    seats = await begin(both[0], seats=3)
    request = leaving(seats, 2)

    answers = await asyncio.gather(*(leave(each, request) for each in both * 2))
    await vote(both[0], seats)
    await abstain(both[0], seats, [0, 1])
    answers.append(await leave(both[1], request))

    assert all(answer == answers[0] for answer in answers)
    assert answers[0].version == 1
    assert (await both[0].view(seats.game_id, None)).update.version == 4


async def test_an_open_turn_of_a_leaver_ends(session: Session) -> None:
    seats = await begin(session, seats=3)
    update = await leave(session, leaving(seats, 0))
    assert kinds(update) == ["turn_lost", "went"]
    assert list(update.asked) == [2]


@pytest.mark.parametrize(
    ("change", "reason", "field"),
    [
        ({"game_id": ""}, Reason.FIELD_MISSING, "game_id"),
        ({"seat_token": ""}, Reason.SEAT_TOKEN_REQUIRED, "seat_token"),
        ({"seat_token": "x" * 43}, Reason.SEAT_TOKEN_INVALID, "seat_token"),
        ({"request_id": ""}, Reason.FIELD_MISSING, "request_id"),
    ],
)
async def test_a_bad_leave_is_refused(session: Session, change: dict[str, str], reason: Reason, field: str) -> None:
    seats = await begin(session)
    with refused(reason, {"field": field}):
        await leave(session, leaving(seats, 0, **change))
    assert (await session.view(seats.game_id, None)).update.version == 0


async def test_a_seat_that_left_is_not_shown_as_connected(session: Session) -> None:
    seats = await begin(session, seats=3)
    await leave(session, leaving(seats, 1))
    start = (await session.view(seats.game_id, None)).cursor
    request = session_pb2.WatchRequest(game_id=seats.game_id, seat_token=seats.tokens[1], show_presence=True)
    showing = session.stub.Watch(request, timeout=SECONDS)
    try:
        async for response in showing:
            assert list(response.snapshot.present) == []
            break
        await vote(session, seats)
        assert (await anext(session.watch(seats.game_id, None, start))).WhichOneof("entry") == "update"
    finally:
        showing.cancel()


# The whole game


async def test_a_game_with_comings_and_goings_is_recorded_replayed_and_mended(
    both: list[Session], toy_settings: Settings
) -> None:
    random = Random(SEED)
    seats = await begin(both[0], seats=3, seed=None)
    await seats.play(both[0], random, moves=3)
    first = joining(seats)
    joined = await join(both[0], first)
    seats.tokens.append(joined.seat_token)
    await seats.play(both[1], random, moves=1)
    await leave(both[0], leaving(seats, 1))
    game = find_game(seats.game_id)
    url = required("store_url", toy_settings.store_url).get_secret_value()
    async with open_store(url) as store, open_engines(toy_settings.engine_addresses, toy_settings) as engines:
        games = games_of(store, toy_settings)
        found = await inspection.look(store, games, game)
        await inspection.check(engines, games, found)
        assert found.faults == []
        assert len([name for name in found.fields if name.startswith("token ")]) == 4
        assert len([name for name in found.fields if name.startswith("join ")]) == 1
        await inspection.rebuild(games, found)
    # A seat's own part, while the game goes on.
    record = await record_of(both[0], seats, joined.seat_token)
    assert record.inputs[0].kind == table_pb2.INPUT_KIND_JOIN
    assert (record.seats, {each.seat for each in record.inputs}) == (3, {3})

    await seats.play(both[0], random)

    record = await record_of(both[1], seats, None)
    comings = [(each.kind, each.seat) for each in record.inputs if each.kind > table_pb2.INPUT_KIND_STANDING_ORDERS]
    assert comings == [(table_pb2.INPUT_KIND_JOIN, 3), (table_pb2.INPUT_KIND_LEAVE, 1)]
    assert record.seats == 3
    assert record.outcome.ending == "played_out"
    assert await join(both[0], first) == joined
    with refused(Reason.GAME_OVER):
        await join(both[0], joining(seats))
    with refused(Reason.GAME_OVER):
        await leave(both[0], leaving(seats, 0))


async def record_of(session: Session, seats: Seats, token: str | None) -> table_pb2.Record:
    request = session_pb2.GetRecordRequest(game_id=seats.game_id, seat_token=token)
    return (await session.stub.GetRecord(request, timeout=SECONDS)).record
