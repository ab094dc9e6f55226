"""Knights who come and go in Shadows over Camelot, through real session processes."""

from __future__ import annotations

from random import Random

import pytest

from roundtable.camelot.v1 import camelot_pb2
from roundtable.session.v1 import session_pb2
from roundtable.table.v1 import table_pb2
from services.runtime.errors import Reason
from tests.integration.seats import SECONDS, Seats, Session, new_game, new_request_id, refused

SEED = 20261206


async def kingdom(session: Session, seats: Seats, token: str | None = None) -> camelot_pb2.View:
    view = camelot_pb2.View()
    assert (await session.view(seats.game_id, token)).view.detail.Unpack(view)
    return view


async def begin(session: Session, number: int) -> Seats:
    """A game after its first turn."""
    seats = Seats(await session.stub.CreateGame(new_game(seats=number, joinable=True, seed=3), timeout=SECONDS))
    random = Random(SEED)
    while not (await kingdom(session, seats)).turn.turns:
        await seats.play(session, random, moves=1)
    return seats


async def join(session: Session, seats: Seats) -> int:
    request = session_pb2.JoinRequest(
        game_id=seats.game_id, join_token=seats.created.join_token, request_id=new_request_id()
    )
    joined = await session.stub.Join(request, timeout=SECONDS)
    seats.tokens.append(joined.seat_token)
    return joined.seat


async def leave(session: Session, seats: Seats, seat: int) -> table_pb2.Update:
    request = session_pb2.LeaveRequest(
        game_id=seats.game_id, seat_token=seats.tokens[seat], request_id=new_request_id()
    )
    return (await session.stub.Leave(request, timeout=SECONDS)).update


@pytest.mark.rule("R20.1", "R20.8", "E110")
async def test_a_newcomer_sits_down_between_two_turns_and_plays_to_the_end(session: Session) -> None:
    seats = await begin(session, 5)
    turns = (await kingdom(session, seats)).turn.turns

    assert await join(session, seats) == 5

    random = Random(SEED)
    waiting = await session.view(seats.game_id, seats.tokens[5])
    assert (waiting.view.seat, waiting.update.HasField("decision")) == (5, False)
    while (now := await kingdom(session, seats, seats.tokens[5])).turn.turns == turns:
        await seats.play(session, random, moves=1)
    knight = now.knights[5]
    assert (knight.life, knight.place, knight.hand_size) == (4, camelot_pb2.PLACE_CAMELOT, 5)
    assert len(now.private.hand) == 5
    await seats.play(session, random)
    request = session_pb2.GetRecordRequest(game_id=seats.game_id)
    record = (await session.stub.GetRecord(request, timeout=SECONDS)).record
    assert record.outcome.ending
    assert [each.seat for each in record.inputs if each.kind == table_pb2.INPUT_KIND_JOIN] == [5]


@pytest.mark.rule("E110")
async def test_a_full_table_lets_nobody_join(session: Session) -> None:
    seats = await begin(session, 7)
    with refused(Reason.SEATS_FIXED):
        await join(session, seats)


@pytest.mark.rule("R20.2", "R18.1")
async def test_a_knight_who_left_is_gone_at_once_and_says_nothing(session: Session) -> None:
    seats = await begin(session, 5)
    asked = (await session.view(seats.game_id, None)).update.asked
    seat = next(seat for seat in range(5) if seat not in asked)

    update = await leave(session, seats, seat)

    assert seat not in update.asked
    assert update.events
    view = await kingdom(session, seats, seats.tokens[seat])
    assert view.knights[seat].hand_size == 0
    assert view.knights[seat].place == camelot_pb2.PLACE_UNSPECIFIED
    assert not view.knights[seat].loyalty_shown
    request = session_pb2.ListDeclarationsRequest(game_id=seats.game_id, seat_token=seats.tokens[seat])
    assert list((await session.stub.ListDeclarations(request, timeout=SECONDS)).declarations) == []
    await seats.play(session, Random(SEED))
    assert (await session.view(seats.game_id, seats.tokens[seat])).update.HasField("outcome")
