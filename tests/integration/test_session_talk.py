"""Table talk through real session processes: said once, heard by all, within limits, and no move."""

from __future__ import annotations

import asyncio
import re
from random import Random

import pytest
from grpc import aio
from redis import Redis

from roundtable.camelot.v1 import camelot_pb2
from roundtable.session.v1 import session_pb2
from services.runtime.errors import Reason, ServiceError
from services.session.keys import find_game
from tests.integration.seats import SECONDS, Seats, Session, new_game, new_request_id, refused

SEED = 20261204
PLAIN = ["stay", "draw_white", "fight_engines", "draw_black", "add_engine", "lose_life", "need_cards", "others_first"]


def saying(seats: Seats, seat: int, declaration: str, **fields: str) -> session_pb2.SayRequest:
    return session_pb2.SayRequest(
        **{
            "game_id": seats.game_id,
            "seat_token": seats.tokens[seat],
            "declaration_id": declaration,
            "request_id": new_request_id(),
            **fields,
        }
    )


async def say(session: Session, request: session_pb2.SayRequest) -> session_pb2.SayResponse:
    return await session.stub.Say(request, timeout=SECONDS)


async def listed(session: Session, seats: Seats, seat: int) -> list[str]:
    request = session_pb2.ListDeclarationsRequest(game_id=seats.game_id, seat_token=seats.tokens[seat])
    response = await session.stub.ListDeclarations(request, timeout=SECONDS)
    return [declaration.id for declaration in response.declarations]


async def heard(
    session: Session, seats: Seats, token: str | None, after: str, number: int
) -> list[session_pb2.WatchResponse]:
    """The next entries of a feed."""
    feed = session.watch(seats.game_id, token, after)
    return [await anext(feed) for _ in range(number)]


def let_time_pass(store: Redis, seats: Seats, seat: int) -> None:
    """As if the seat had said nothing for a minute."""
    field = f"w{seat}"
    taken = store.hget(find_game(seats.game_id).game, field)
    assert isinstance(taken, bytes)
    earlier = re.sub(rb"^\d+", lambda found: b"%d" % (int(found[0]) - 60_000), taken)
    store.hset(find_game(seats.game_id).game, field, earlier)


async def test_what_a_seat_says_is_heard_by_all_once_and_in_order(both: list[Session], seats: Seats) -> None:
    before = await both[0].view(seats.game_id, seats.tokens[0])

    await say(both[0], saying(seats, 2, "go:grail"))
    await say(both[1], saying(seats, 3, "suspect:2"))
    await seats.play(both[0], Random(SEED), moves=1)

    for token in (seats.tokens[0], seats.tokens[2], None):
        first, second, move = await heard(both[1], seats, token, before.cursor, 3)
        assert (first.said.seat, first.said.declaration.id, first.said.declaration.rule) == (2, "go:grail", "R18.1")
        assert first.said.declaration.title == "I mean to go: Quest for the Holy Grail"
        reference = camelot_pb2.DeclarationReference()
        assert first.said.declaration.detail.Unpack(reference)
        assert reference == camelot_pb2.DeclarationReference(
            saying=camelot_pb2.SAYING_GO, place=camelot_pb2.PLACE_GRAIL
        )
        assert (second.said.seat, second.said.declaration.id, second.said.declaration.rule) == (3, "suspect:2", "R18.2")
        assert move.update.version == 1
        # From any place the rest follows.
        assert [each.said for each in await heard(both[0], seats, token, first.cursor, 1)] == [second.said]


@pytest.mark.rule("R18.2")
async def test_what_is_said_is_no_move_and_binds_nobody(session: Session, seats: Seats) -> None:
    before = await session.view(seats.game_id, seats.tokens[0])

    for declaration in ("go:grail", "need_cards", "draw_black"):
        await say(session, saying(seats, 0, declaration))

    after = await session.view(seats.game_id, seats.tokens[0])
    assert (after.view, after.update) == (before.view, before.update)
    assert after.update.version == 0
    await seats.play(session, Random(SEED))
    request = session_pb2.GetRecordRequest(game_id=seats.game_id)
    record = (await session.stub.GetRecord(request, timeout=SECONDS)).record
    assert record.outcome.ending


async def test_a_repeated_call_says_nothing_more(both: list[Session], seats: Seats, store: Redis) -> None:
    before = await both[0].view(seats.game_id, None)
    request = saying(seats, 1, "agree")

    await asyncio.gather(*(say(each, request) for each in both * 2))
    # Long afterwards, in another turn and when it could be said again, it is the same call.
    await seats.play(both[0], Random(SEED), moves=60)
    let_time_pass(store, seats, 1)
    await say(both[1], request)

    entries = await heard(both[0], seats, None, before.cursor, 61)
    assert [each.said.declaration.id for each in entries if each.HasField("said")] == ["agree"]
    now = await both[0].view(seats.game_id, None)
    assert now.cursor == entries[-1].cursor


async def test_a_request_id_is_good_for_one_thing_only(session: Session, seats: Seats) -> None:
    request = saying(seats, 1, "agree")
    await say(session, request)
    move = seats.choice(1, await seats.decision(session, 1))

    with refused(Reason.REQUEST_ID_REUSED, {"field": "request_id"}):
        await say(session, saying(seats, 1, "disagree", request_id=request.request_id))
    with refused(Reason.REQUEST_ID_REUSED, {"field": "request_id"}):
        await session.choose(seats.choice(1, await seats.decision(session, 1), request_id=request.request_id))
    await session.choose(move)
    with refused(Reason.REQUEST_ID_REUSED, {"field": "request_id"}):
        await say(session, saying(seats, 1, "disagree", request_id=move.request_id))
    # Ids are each seat's own.
    await say(session, saying(seats, 2, "agree", request_id=request.request_id))


async def test_a_seat_says_the_same_once_in_a_turn(session: Session, seats: Seats, store: Redis) -> None:
    await say(session, saying(seats, 0, "agree"))
    with refused(Reason.SAID_ALREADY, {"field": "declaration_id"}):
        await say(session, saying(seats, 0, "agree"))
    await say(session, saying(seats, 1, "agree"))

    view = camelot_pb2.View()
    async with asyncio.timeout(SECONDS):
        while not view.turn.turns:
            await seats.play(session, Random(SEED), moves=1)
            assert (await session.view(seats.game_id, None)).view.detail.Unpack(view)

    await say(session, saying(seats, 0, "agree"))


async def test_a_seat_that_talks_too_fast_is_told_when_it_can_go_on(session: Session, seats: Seats) -> None:
    for declaration in PLAIN[:4]:
        await say(session, saying(seats, 0, declaration))

    request = saying(seats, 0, PLAIN[4])
    with pytest.raises(aio.AioRpcError) as error:
        await say(session, request)
    refusal = ServiceError.from_rpc_error(error.value, Reason.INTERNAL)
    assert refusal.reason is Reason.TALKING_TOO_FAST
    assert refusal.retry_after is not None
    assert 0 < refusal.retry_after <= 5
    # Others are not held up.
    await say(session, saying(seats, 1, PLAIN[4]))
    await asyncio.sleep(refusal.retry_after)
    await say(session, request)
    with refused(Reason.TALKING_TOO_FAST):
        await say(session, saying(seats, 0, PLAIN[5]))


async def test_a_seat_says_eight_things_in_a_turn(session: Session, seats: Seats, store: Redis) -> None:
    for number, declaration in enumerate(PLAIN):
        if number == 4:
            let_time_pass(store, seats, 0)
        await say(session, saying(seats, 0, declaration))
    let_time_pass(store, seats, 0)

    with refused(Reason.SAID_ENOUGH):
        await say(session, saying(seats, 0, "agree"))
    # What was said already is told as such.
    with refused(Reason.SAID_ALREADY):
        await say(session, saying(seats, 0, PLAIN[0]))


async def test_only_what_is_listed_for_the_seat_can_be_said(session: Session, seats: Seats) -> None:
    ids = await listed(session, seats, 1)
    assert {"go:grail", "suspect:0", "agree"} <= set(ids)
    assert not {"go:camelot", "suspect:1", "suspect:5", "go:dragon"} & set(ids)

    for declaration in ("go:camelot", "suspect:1", "I hold a Grail", "card:grail"):
        with refused(Reason.UNKNOWN_DECLARATION, {"field": "declaration_id"}):
            await say(session, saying(seats, 1, declaration))


@pytest.mark.parametrize(
    ("change", "reason", "field"),
    [
        ({"game_id": ""}, Reason.FIELD_MISSING, "game_id"),
        ({"game_id": "nowhere"}, Reason.GAME_NOT_FOUND, "game_id"),
        ({"game_id": "b1-" + "a" * 24}, Reason.GAME_NOT_FOUND, "game_id"),
        ({"seat_token": ""}, Reason.SEAT_TOKEN_REQUIRED, "seat_token"),
        ({"seat_token": "x" * 43}, Reason.SEAT_TOKEN_INVALID, "seat_token"),
        ({"declaration_id": ""}, Reason.FIELD_MISSING, "declaration_id"),
        ({"declaration_id": "x" * 65}, Reason.FIELD_TOO_LONG, "declaration_id"),
        ({"request_id": ""}, Reason.FIELD_MISSING, "request_id"),
        ({"request_id": "x" * 65}, Reason.FIELD_TOO_LONG, "request_id"),
    ],
)
async def test_bad_talk_is_refused(
    session: Session, seats: Seats, change: dict[str, str], reason: Reason, field: str
) -> None:
    before = await session.view(seats.game_id, None)
    with refused(reason, {"field": field}):
        await say(session, saying(seats, 0, "agree", **change))
    assert (await session.view(seats.game_id, None)).cursor == before.cursor


async def test_spectators_do_not_talk(session: Session, seats: Seats) -> None:
    with refused(Reason.SEAT_TOKEN_REQUIRED):
        await session.stub.ListDeclarations(session_pb2.ListDeclarationsRequest(game_id=seats.game_id), timeout=SECONDS)


async def test_in_a_silent_game_nobody_says_anything(session: Session) -> None:
    request = new_game(silent=True)
    seats = Seats(await session.stub.CreateGame(request, timeout=SECONDS))

    assert await listed(session, seats, 0) == []
    with refused(Reason.TALK_OFF):
        await say(session, saying(seats, 0, "agree"))
    request.silent = False
    with refused(Reason.REQUEST_ID_REUSED):
        await session.stub.CreateGame(request, timeout=SECONDS)


async def test_after_the_end_nobody_says_anything(session: Session, seats: Seats) -> None:
    await say(session, saying(seats, 0, "agree"))
    await seats.play(session, Random(SEED))

    with refused(Reason.GAME_OVER):
        await listed(session, seats, 0)
    with refused(Reason.GAME_OVER):
        await say(session, saying(seats, 0, "disagree"))
