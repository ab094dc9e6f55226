"""Games in play, through real session processes over a real store and engine."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import TypeVar

import pytest
from grpc import aio
from pydantic import SecretStr
from redis import Redis

from clients.players import picks_at_random
from roundtable.engine.v1 import engine_pb2
from roundtable.session.v1 import session_pb2
from roundtable.table.v1 import table_pb2
from services.runtime.errors import Reason, ServiceError
from services.runtime.processes import Processes
from services.runtime.settings import Settings
from services.session.cursors import Cursor, decode_cursor, encode_cursor
from services.session.keys import find_game
from services.session.log import decode_input
from tests.integration.conftest import OwnStore
from tests.integration.seats import SECONDS, Seats, Session, client_of, new_game, new_request_id, outcome_of, refused

SEED = 20261201

Answer = TypeVar("Answer")


def log_of(seats: Seats, store: Redis) -> list[engine_pb2.LoggedInput]:
    entries = store.lrange(find_game(seats.game_id).log, 0, -1)
    return [decode_input(entry) for entry in entries if isinstance(entry, bytes)]


# Creating


async def test_a_repeated_creation_is_the_same_game_with_the_same_tokens(both: list[Session]) -> None:
    request = new_game()

    first, second = await asyncio.gather(*(each.stub.CreateGame(request, timeout=SECONDS) for each in both))
    await Seats(first).play(both[0], Random(SEED), moves=3)
    later = await both[1].stub.CreateGame(request, timeout=SECONDS)

    assert first == second == later
    assert len(set(first.seat_tokens)) == 5
    assert [len(token) for token in first.seat_tokens] == [43] * 5
    assert len(first.commitment.commitment) == 32


async def test_a_creation_with_other_content_under_the_same_id_is_refused(session: Session) -> None:
    request = new_game(seats=4)
    await session.stub.CreateGame(request, timeout=SECONDS)

    for change in ({"seats": 5}, {"seed": 2}, {"seed": None}, {"spectators": False}, {"options": {"x": "y"}}):
        other = new_game(**{"seats": 4, "request_id": request.request_id, **change})
        with refused(Reason.REQUEST_ID_REUSED, {"field": "request_id"}):
            await session.stub.CreateGame(other, timeout=SECONDS)


@pytest.mark.parametrize(
    ("wish", "reason", "field"),
    [
        ({"request_id": ""}, Reason.FIELD_MISSING, "request_id"),
        ({"request_id": "x" * 15}, Reason.FIELD_INVALID, "request_id"),
        ({"request_id": "x" * 65}, Reason.FIELD_TOO_LONG, "request_id"),
        ({"game": ""}, Reason.FIELD_MISSING, "game"),
        ({"game": "x" * 33}, Reason.FIELD_TOO_LONG, "game"),
        ({"game": "chess"}, Reason.UNKNOWN_GAME, "game"),
        ({"seats": 2}, Reason.SEATS_OUT_OF_RANGE, "seats"),
        ({"seats": 4_000_000_000}, Reason.SEATS_OUT_OF_RANGE, "seats"),
        ({"options": {str(number): "x" for number in range(33)}}, Reason.FIELD_TOO_LONG, "options"),
        ({"options": {"dragons": "true"}}, Reason.UNKNOWN_GAME_OPTION, "options.dragons"),
        ({"options": {"convocation_return": "might"}}, Reason.GAME_OPTION_VALUE, "options.convocation_return"),
    ],
)
async def test_a_bad_creation_is_refused(session: Session, wish: dict[str, object], reason: Reason, field: str) -> None:
    with refused(reason, {"field": field}):
        await session.create(**wish)


# Choosing, once


async def test_a_repeated_choice_gets_the_same_bytes_and_makes_no_second_move(
    both: list[Session], seats: Seats
) -> None:
    request = seats.choice(2, await seats.decision(both[0], 2))

    first = await both[0].choose_raw(request)
    again = await both[1].choose_raw(request)
    await seats.play(both[0], Random(SEED), moves=1)
    other_seats_moved = await both[1].choose_raw(request)

    assert first == again == other_seats_moved
    assert (await both[0].view(seats.game_id, None)).update.version == 2


async def test_an_old_choice_is_known_for_the_games_life(session: Session, seats: Seats) -> None:
    moves = await seats.play(session, Random(SEED), moves=80)
    latest = {move.request.seat_token: move for move in moves}

    for version, move in enumerate(moves, start=1):
        if latest[move.request.seat_token] is move:
            assert await session.choose_raw(move.request) == move.response
        else:
            with refused(Reason.ALREADY_APPLIED, {"version": str(version)}):
                await session.choose_raw(move.request)
    assert (await session.view(seats.game_id, None)).update.version == 80


async def test_a_used_request_id_with_other_content_is_refused_for_the_games_life(
    session: Session, seats: Seats
) -> None:
    moves = await seats.play(session, Random(SEED), moves=70)
    asked = moves[-1].update.asked[0]
    decision = await seats.decision(session, asked)
    token = seats.tokens[asked]
    own = [move for move in moves if move.request.seat_token == token]
    foreign = next(move for move in moves if move.request.seat_token != token)

    for move in (own[0], own[-1]):
        with refused(Reason.REQUEST_ID_REUSED, {"field": "request_id"}):
            await session.choose(seats.choice(asked, decision, request_id=move.request.request_id))
        changed = session_pb2.ChooseRequest()
        changed.CopyFrom(move.request)
        changed.picks[:] = ["something:else"]
        with refused(Reason.REQUEST_ID_REUSED):
            await session.choose(changed)
    # Ids are each seat's own.
    await session.choose(seats.choice(asked, decision, request_id=foreign.request.request_id))


async def test_seats_asked_at_once_answer_at_once(both: list[Session]) -> None:
    """Through two processes, which must commit one after another; no client notices."""
    for seed in range(5):
        seats = await both[0].create(seed=seed)
        decisions = [await seats.decision(both[0], seat) for seat in range(5)]
        assert len({decision.id for decision in decisions}) == 1

        updates = await asyncio.gather(
            *(both[seat % 2].choose(seats.choice(seat, decisions[seat])) for seat in range(5))
        )

        assert sorted(update.version for update in updates) == [1, 2, 3, 4, 5]


async def test_of_two_answers_of_one_seat_one_stands_and_the_other_is_told(both: list[Session]) -> None:
    for seed in range(5):
        seats = await both[0].create(seed=seed)
        decision = await seats.decision(both[0], 1)
        requests = [seats.choice(1, decision, [decision.options[place].id]) for place in (0, 1)]

        answers = await asyncio.gather(
            *(
                outcome_of(asyncio.create_task(each.choose_raw(request)))
                for each, request in zip(both, requests, strict=True)
            )
        )

        (lost,) = [answer for answer in answers if isinstance(answer, ServiceError)]
        stands = next(place for place, answer in enumerate(answers) if isinstance(answer, bytes))
        assert lost.reason is Reason.DECISION_CLOSED
        assert lost.metadata == {
            "field": "decision_id",
            "version": "1",
            "outcome": "answer",
            "picks": str(stands),
        }
        assert (await both[0].view(seats.game_id, None)).update.version == 1


async def test_a_closed_decision_tells_what_came_of_it_and_nothing_of_others(session: Session, seats: Seats) -> None:
    first = await seats.decision(session, 0)
    await seats.play(session, Random(SEED), moves=9)  # the offers, then some of one seat's proposals
    (alone,) = (await session.view(seats.game_id, None)).update.asked
    later = await seats.decision(session, alone)
    other = (alone + 1) % 5
    await session.choose(seats.choice(alone, later))

    with refused(Reason.DECISION_CLOSED, {"outcome": "answer"}):
        await session.choose(seats.choice(0, first))
    with pytest.raises(aio.AioRpcError) as error:
        await session.choose(seats.choice(other, later, ["give:0"]))
    told = ServiceError.from_rpc_error(error.value, Reason.INTERNAL)
    assert told.metadata == {"field": "decision_id", "version": "10", "outcome": "unanswered"}


@pytest.mark.parametrize(
    ("picks", "reason"),
    [
        ([], Reason.TOO_FEW_PICKS),
        (["dance"], Reason.UNKNOWN_OPTION),
        ("both", Reason.TOO_MANY_PICKS),
        ("twice", Reason.REPEATED_PICK),
        (["x" * 65], Reason.FIELD_TOO_LONG),
        ([""], Reason.FIELD_MISSING),
        (["x"] * 1025, Reason.FIELD_TOO_LONG),
    ],
)
async def test_picks_that_are_not_legal_are_refused_and_change_nothing(
    session: Session, seats: Seats, picks: list[str] | str, reason: Reason
) -> None:
    decision = await seats.decision(session, 0)
    ids = [option.id for option in decision.options]
    made_up = {"both": ids[:2], "twice": [ids[0], ids[0]]}.get(picks, picks) if isinstance(picks, str) else picks

    with refused(reason, {"field": "picks"}):
        await session.choose(seats.choice(0, decision, made_up))

    assert await seats.decision(session, 0) == decision
    await session.choose(seats.choice(0, decision))


@pytest.mark.parametrize(
    ("change", "reason", "field"),
    [
        ({"game_id": ""}, Reason.FIELD_MISSING, "game_id"),
        ({"game_id": "x" * 65}, Reason.FIELD_TOO_LONG, "game_id"),
        ({"game_id": "nowhere"}, Reason.GAME_NOT_FOUND, "game_id"),
        ({"game_id": "b256-" + "a" * 24}, Reason.GAME_NOT_FOUND, "game_id"),
        ({"game_id": "b1-" + "a" * 24}, Reason.GAME_NOT_FOUND, "game_id"),
        ({"seat_token": ""}, Reason.SEAT_TOKEN_REQUIRED, "seat_token"),
        ({"seat_token": "x" * 43}, Reason.SEAT_TOKEN_INVALID, "seat_token"),
        ({"seat_token": "x" * 65}, Reason.FIELD_TOO_LONG, "seat_token"),
        ({"decision_id": ""}, Reason.FIELD_MISSING, "decision_id"),
        ({"decision_id": "x" * 65}, Reason.FIELD_TOO_LONG, "decision_id"),
        ({"decision_id": "99"}, Reason.UNKNOWN_DECISION, "decision_id"),
        ({"request_id": ""}, Reason.FIELD_MISSING, "request_id"),
        ({"request_id": "x" * 65}, Reason.FIELD_TOO_LONG, "request_id"),
    ],
)
async def test_a_bad_choice_is_refused(
    session: Session, seats: Seats, change: dict[str, str], reason: Reason, field: str
) -> None:
    decision = await seats.decision(session, 0)

    with refused(reason, {"field": field}):
        await session.choose(seats.choice(0, decision, **change))

    assert await seats.decision(session, 0) == decision


async def test_a_token_is_good_for_its_game_only(session: Session, seats: Seats) -> None:
    other = await session.create()
    decision = await seats.decision(session, 0)

    with refused(Reason.SEAT_TOKEN_INVALID):
        await session.choose(seats.choice(0, decision, seat_token=other.tokens[0]))
    with refused(Reason.SEAT_TOKEN_INVALID):
        await session.view(seats.game_id, other.tokens[0])
    with refused(Reason.SEAT_TOKEN_INVALID):
        await session.watch_to_end(seats.game_id, other.tokens[0])
    with refused(Reason.SEAT_TOKEN_INVALID):
        await session.view(seats.game_id, "")


async def test_a_seat_that_is_not_asked_cannot_answer(session: Session, seats: Seats) -> None:
    await seats.play(session, Random(SEED), moves=5)
    asked = (await session.view(seats.game_id, None)).update.asked[0]
    decision = await seats.decision(session, asked)

    with refused(Reason.NOT_ASKED):
        await session.choose(seats.choice((asked + 1) % 5, decision))


# Looking


async def test_without_spectators_only_seats_may_look(session: Session) -> None:
    closed = await session.create(spectators=False)

    with refused(Reason.SPECTATORS_NOT_ALLOWED):
        await session.view(closed.game_id, None)
    with refused(Reason.SPECTATORS_NOT_ALLOWED):
        await session.watch_to_end(closed.game_id, None)
    assert (await session.view(closed.game_id, closed.tokens[3])).view.seat == 3


async def test_each_sees_its_own_view_and_decision(session: Session, seats: Seats) -> None:
    for seat in range(5):
        seen = await session.view(seats.game_id, seats.tokens[seat])
        assert (seen.view.seat, seen.update.decision.seat) == (seat, seat)
    spectator = await session.view(seats.game_id, None)
    assert not spectator.view.HasField("seat")
    assert not spectator.update.HasField("decision")


async def test_a_seat_is_told_why_it_is_not_offered_something(session: Session, seats: Seats) -> None:
    decision = (await session.view(seats.game_id, seats.tokens[0])).update.decision

    async def explain(token: str, candidate: str) -> session_pb2.ExplainResponse:
        request = session_pb2.ExplainRequest(game_id=seats.game_id, seat_token=token, candidate=candidate)
        return await session.stub.Explain(request, timeout=SECONDS)

    offered = await explain(seats.tokens[0], decision.options[0].id)
    assert (offered.offered, offered.rule, offered.condition) == (True, decision.options[0].rule, "")
    withheld = await explain(seats.tokens[0], "sacrifice")
    assert (withheld.offered, bool(withheld.rule), bool(withheld.condition)) == (False, True, True)
    with refused(Reason.UNKNOWN_OPTION, {"field": "candidate"}):
        await explain(seats.tokens[0], "fly:avalon")
    with refused(Reason.FIELD_MISSING, {"field": "candidate"}):
        await explain(seats.tokens[0], "")
    with refused(Reason.SEAT_TOKEN_REQUIRED, {"field": "seat_token"}):
        await explain("", "sacrifice")
    with refused(Reason.SEAT_TOKEN_INVALID, {"field": "seat_token"}):
        await explain("nobody", "sacrifice")


# Standing orders


async def test_standing_orders_are_set_once_and_answer_for_the_seat(
    both: list[Session], seats: Seats, store: Redis
) -> None:
    decision = await seats.decision(both[0], 3)
    request = session_pb2.SetStandingOrdersRequest(
        game_id=seats.game_id,
        seat_token=seats.tokens[3],
        request_id=new_request_id(),
        orders={decision.key: decision.options[0].id},
    )

    first = await both[0].stub.SetStandingOrders(request, timeout=SECONDS)
    again = await both[1].stub.SetStandingOrders(request, timeout=SECONDS)

    assert first == again
    assert first.update.version == 2
    assert 3 not in first.update.asked
    log = log_of(seats, store)
    assert [entry.seat for entry in log] == [3, 3]
    assert log[0].orders == {decision.key: decision.options[0].id}
    assert (log[1].decision, list(log[1].picks)) == (decision.id, [0])
    with refused(Reason.DECISION_CLOSED, {"version": "2", "outcome": "standing_answer", "picks": "0"}):
        await both[0].choose(seats.choice(3, decision))
    request.orders["pledge"] = "pass"
    with refused(Reason.REQUEST_ID_REUSED):
        await both[0].stub.SetStandingOrders(request, timeout=SECONDS)


async def test_a_seat_changes_its_orders_within_16_kib_a_game(both: list[Session], seats: Seats, store: Redis) -> None:
    """A change of n orders with keys of 32 and options of 64 bytes counts 96 n + 256: four of 32 orders leave 3,072 of
    16,384, which is too little for 30, enough for 26, and then for one without any."""

    def change(orders: int) -> session_pb2.SetStandingOrdersRequest:
        return session_pb2.SetStandingOrdersRequest(
            game_id=seats.game_id,
            seat_token=seats.tokens[2],
            request_id=new_request_id(),
            orders={f"{number:032}": "p" * 64 for number in range(orders)},
        )

    for _ in range(4):
        last = change(32)
        await both[0].stub.SetStandingOrders(last, timeout=SECONDS)
    with refused(Reason.ORDERS_EXHAUSTED, {"field": "orders"}):
        await both[1].stub.SetStandingOrders(change(30), timeout=SECONDS)
    assert (await both[1].stub.SetStandingOrders(last, timeout=SECONDS)).update.version == 4
    for orders in (26, 0):
        await both[0].stub.SetStandingOrders(change(orders), timeout=SECONDS)
    with refused(Reason.ORDERS_EXHAUSTED):
        await both[1].stub.SetStandingOrders(change(0), timeout=SECONDS)

    assert len(log_of(seats, store)) == 6
    others = change(1)
    others.seat_token = seats.tokens[3]
    assert (await both[0].stub.SetStandingOrders(others, timeout=SECONDS)).update.version == 7
    await seats.play(both[0], Random(SEED), moves=5)


@pytest.mark.parametrize(
    ("change", "reason", "field"),
    [
        ({"seat_token": ""}, Reason.SEAT_TOKEN_REQUIRED, "seat_token"),
        ({"request_id": ""}, Reason.FIELD_MISSING, "request_id"),
        ({"orders": {str(number): "pass" for number in range(33)}}, Reason.FIELD_TOO_LONG, "orders"),
        ({"orders": {"x" * 33: "pass"}}, Reason.FIELD_TOO_LONG, "orders"),
        ({"orders": {"heroic": ""}}, Reason.FIELD_MISSING, "orders"),
    ],
)
async def test_bad_standing_orders_are_refused(
    session: Session, seats: Seats, change: dict[str, object], reason: Reason, field: str
) -> None:
    asked: dict[str, object] = {
        "game_id": seats.game_id,
        "seat_token": seats.tokens[0],
        "request_id": new_request_id(),
        **change,
    }
    with refused(reason, {"field": field}):
        await session.stub.SetStandingOrders(
            session_pb2.SetStandingOrdersRequest(**asked),  # type: ignore[arg-type]
            timeout=SECONDS,
        )


# Watching


async def test_changed_standing_orders_are_told_to_their_seat_alone(both: list[Session], seats: Seats) -> None:
    before = (await both[0].view(seats.game_id, seats.tokens[3])).cursor
    watchers: list[str | None] = [seats.tokens[3], seats.tokens[1], None]
    live: list[list[session_pb2.WatchResponse]] = [[] for _ in watchers]

    async def follow(number: int) -> None:
        async for response in both[1].watch(seats.game_id, watchers[number], before, heartbeats=True):
            live[number].append(response)

    watching = [asyncio.create_task(follow(number)) for number in range(len(watchers))]
    change = session_pb2.SetStandingOrdersRequest(
        game_id=seats.game_id, seat_token=seats.tokens[3], request_id=new_request_id(), orders={"nothing": "pass"}
    )
    changed = await both[0].stub.SetStandingOrders(change, timeout=SECONDS)
    after = (await both[0].view(seats.game_id, None)).cursor
    async with asyncio.timeout(SECONDS):
        # Whom it tells nothing still gets on, with heartbeats.
        while not all(feed and feed[-1].cursor == after and feed[-1].HasField("heartbeat") for feed in live):
            await asyncio.sleep(0.05)
    assert [[each.update for each in feed if each.HasField("update")] for feed in live] == [[changed.update], [], []]

    (move,) = await seats.play(both[0], Random(SEED), moves=1)
    async with asyncio.timeout(SECONDS):
        while not all(any(each.update.version == 2 for each in feed) for feed in live):
            await asyncio.sleep(0.05)
    for task in watching:
        task.cancel()
    for number, token in enumerate(watchers):
        told = [each for each in live[number] if each.HasField("update")]
        assert [each.update.version for each in told] == ([1, 2] if number == 0 else [2])
        for place, expected in ((before, told), (after, told[-1:])):
            rest = both[0].watch(seats.game_id, token, place)
            assert [await anext(rest) for _ in expected] == expected
    assert move.update.version == 2


async def test_every_feed_is_the_game_and_goes_on_from_every_cursor(both: list[Session], seats: Seats) -> None:
    """Seats and a spectator watch at two processes while the game is played, and afterwards from each place."""
    watchers: list[str | None] = [*seats.tokens, None]
    watching = [
        asyncio.create_task(both[number % 2].watch_to_end(seats.game_id, token))
        for number, token in enumerate(watchers)
    ]
    moves = await seats.play(both[0], Random(SEED))
    feeds = await asyncio.wait_for(asyncio.gather(*watching), SECONDS)

    for token, feed in zip(watchers, feeds, strict=True):
        assert feed[0].HasField("snapshot")
        versions = [response.update.version for response in feed[1:]]
        start = feed[0].snapshot.update.version
        assert versions == [move.update.version for move in moves if move.update.version > start]
        own = {move.update.version: move.update for move in moves if move.request.seat_token == token}
        for response in feed[1:]:
            assert response.update == own.get(response.update.version, response.update)
        assert feed[-1].update.HasField("outcome")
        assert (await both[1].view(seats.game_id, token)).cursor == feed[-1].cursor
    for number in (0, 5):
        for place in range(0, len(feeds[number]), 7):
            cursor = feeds[number][place].cursor
            rest = await both[1].watch_to_end(seats.game_id, watchers[number], cursor)
            assert rest == feeds[number][place + 1 :]
    assert await both[0].watch_to_end(seats.game_id, None, feeds[5][-1].cursor) == []
    (over,) = await both[0].watch_to_end(seats.game_id, seats.tokens[0])
    assert over.snapshot.update.HasField("outcome")


async def test_private_forms_reach_their_seat_only(both: list[Session], seats: Seats) -> None:
    watching = [asyncio.create_task(both[1].watch_to_end(seats.game_id, token)) for token in (seats.tokens[0], None)]
    await seats.play(both[0], Random(SEED))
    own, spectators = await asyncio.wait_for(asyncio.gather(*watching), SECONDS)

    assert any(response.update.HasField("decision") for response in own)
    assert {response.update.decision.seat for response in own if response.update.HasField("decision")} == {0}
    assert not any(response.update.HasField("decision") for response in spectators)


async def test_watchers_that_join_during_play_miss_nothing_and_see_nothing_twice(both: list[Session]) -> None:
    random = Random(SEED)
    seats = await both[0].create()
    whole = asyncio.create_task(both[0].watch_to_end(seats.game_id, None))
    joining: list[asyncio.Task[list[session_pb2.WatchResponse]]] = []
    playing = asyncio.create_task(seats.play(both[0], random))
    while not playing.done() and len(joining) < 100:  # more of them would only slow the game that they join
        joining.append(asyncio.create_task(both[random.randrange(2)].watch_to_end(seats.game_id, None)))
        await asyncio.sleep(random.random() * 0.03)
    await playing
    complete = await whole

    assert len(joining) > 10
    places = {response.cursor: place for place, response in enumerate(complete)}
    for feed in await asyncio.gather(*joining):
        assert feed[0].HasField("snapshot")
        assert feed[1:] == complete[places[feed[0].cursor] + 1 :]


async def test_two_streams_of_a_seat_get_the_same(both: list[Session], seats: Seats) -> None:
    first = (await both[0].view(seats.game_id, seats.tokens[2])).cursor
    watching = [
        asyncio.create_task(each.watch_to_end(seats.game_id, seats.tokens[2], first)) for each in (*both, both[0])
    ]
    moves = await seats.play(both[0], Random(SEED))
    feeds = await asyncio.gather(*watching)

    assert feeds[0] == feeds[1] == feeds[2]
    assert len(feeds[0]) == len(moves)


async def test_a_quiet_feed_beats(session: Session, seats: Seats) -> None:
    feed = session.watch(seats.game_id, None, heartbeats=True)
    snapshot, first, second = [await anext(feed) for _ in range(3)]
    assert first.HasField("heartbeat")
    assert second.HasField("heartbeat")
    assert first.cursor == second.cursor == snapshot.cursor
    pause = second.at.ToDatetime() - first.at.ToDatetime()
    assert 0.15 < pause.total_seconds() < 2


@pytest.mark.parametrize("garbled", ["", "x", "x" * 22, "é" * 22, "x" * 1000])
async def test_what_is_no_cursor_is_refused(session: Session, seats: Seats, garbled: str) -> None:
    with refused(Reason.CURSOR_INVALID, {"field": "after"}):
        await session.watch_to_end(seats.game_id, None, garbled)


async def test_a_cursor_is_good_for_its_game_only(session: Session, seats: Seats) -> None:
    other = await session.create()
    cursor = (await session.view(other.game_id, None)).cursor
    with refused(Reason.CURSOR_INVALID):
        await session.watch_to_end(seats.game_id, None, cursor)


async def test_a_cursor_of_a_future_that_was_lost_is_told(session: Session, seats: Seats) -> None:
    await seats.play(session, Random(SEED), moves=3)
    here = decode_cursor(seats.game_id, (await session.view(seats.game_id, None)).cursor)

    for lost in (Cursor(here.position + 2, here.mark), Cursor(here.position, b"elsewhen")):
        with refused(Reason.CURSOR_UNKNOWN, {"field": "after"}):
            await session.watch_to_end(seats.game_id, None, encode_cursor(seats.game_id, lost))


async def test_watchers_are_told_when_the_store_has_lost_what_they_saw(
    session: Session, seats: Seats, store: Redis
) -> None:
    game = find_game(seats.game_id)
    await seats.play(session, Random(SEED), moves=3)
    backup = {key: store.dump(key) or b"" for key in (game.game, game.log, game.feed)}
    start = (await session.view(seats.game_id, None)).cursor
    stream = session.watch(seats.game_id, None, start)
    await seats.play(session, Random(SEED), moves=3)
    assert [(await anext(stream)).update.version for _ in range(3)] == [4, 5, 6]

    for key, content in backup.items():
        store.restore(key, 0, content, replace=True)
    await seats.play(session, Random(SEED + 1), moves=1)

    with refused(Reason.CURSOR_UNKNOWN):
        await anext(stream)
    assert (await anext(session.watch(seats.game_id, None, start))).update.version == 4


async def test_who_has_fallen_off_the_feed_gets_a_snapshot(processes: Processes, settings: Settings) -> None:
    ready = processes.serve("session", settings.model_copy(update={"feed_entries": 4}))
    async with client_of(ready.address) as (session,):
        seats = await session.create()
        start = (await session.view(seats.game_id, None)).cursor
        await seats.play(session, Random(SEED), moves=4)
        kept = (await session.view(seats.game_id, None)).cursor
        await seats.play(session, Random(SEED), moves=3)

        stream = session.watch(seats.game_id, None, start)
        fallen_off = (await anext(stream)).snapshot
        assert (fallen_off.update.version, fallen_off.reason) == (7, session_pb2.SNAPSHOT_REASON_GAP)
        stream = session.watch(seats.game_id, None, kept)
        assert [(await anext(stream)).update.version for _ in range(3)] == [5, 6, 7]


# What is stored


async def test_a_move_is_one_load_and_one_commit(processes: Processes, settings: Settings, own_store: OwnStore) -> None:
    ready = processes.serve("session", settings.model_copy(update={"store_url": SecretStr(own_store.url)}))
    async with client_of(ready.address) as (session,):
        seats = await session.create()
        await session.choose(seats.choice(1, await seats.decision(session, 1)))  # now the store has the scripts
        decision = await seats.decision(session, 0)
        with Redis.from_url(own_store.url) as store:
            store.config_resetstat()
            await session.choose(seats.choice(0, decision))
            counted = store.info("commandstats")

    calls = {name.removeprefix("cmdstat_"): each["calls"] for name, each in counted.items()}
    within_scripts = {"ttl", "hmget", "hget", "hset", "hexists", "hincrby", "rpush", "xadd", "spublish"}
    assert calls.pop("evalsha") == 2
    looking_for_due_work = {"zrange"}
    assert set(calls) - within_scripts - looking_for_due_work <= {"config|resetstat", "ssubscribe"}


async def test_a_finished_game_is_forgotten_in_time(session: Session, seats: Seats, store: Redis) -> None:
    game = find_game(seats.game_id)
    await seats.play(session, Random(SEED), moves=5)
    assert [store.ttl(key) for key in (game.game, game.log, game.feed)] == [-1, -1, -1]

    await seats.play(session, Random(SEED))

    for key in (game.game, game.log, game.feed):
        assert 7 * 24 * 3600 - 60 < store.ttl(key) <= 7 * 24 * 3600


async def test_the_log_is_the_game(session: Session, seats: Seats, store: Redis) -> None:
    moves = await seats.play(session, Random(SEED), moves=40)

    log = log_of(seats, store)

    assert [(entry.seat, entry.decision) for entry in log] == [
        (seats.tokens.index(move.request.seat_token), move.request.decision_id) for move in moves
    ]


async def test_tokens_and_request_ids_are_nowhere_in_clear(session: Session, store: Redis, service_logs: Path) -> None:
    request = new_game()
    seats = Seats(await session.stub.CreateGame(request, timeout=SECONDS))
    moves = await seats.play(session, Random(SEED), moves=10)
    with refused(Reason.SEAT_TOKEN_INVALID):
        await session.view((await session.create()).game_id, seats.tokens[0])
    game = find_game(seats.game_id)

    kept = b"".join(store.dump(key) or b"" for key in (game.game, game.log, game.feed))
    kept += repr(store.hgetall(game.game)).encode() + game.game.encode()
    kept += b"".join(log.read_bytes() for log in service_logs.glob("*.log"))

    for secret in (*seats.tokens, request.request_id, moves[0].request.request_id):
        assert secret.encode() not in kept


# What goes wrong


async def test_a_store_that_forgets_its_scripts_gets_them_again(session: Session, seats: Seats, store: Redis) -> None:
    for _ in range(5):
        store.script_flush()
        await seats.play(session, Random(SEED), moves=2)
    assert (await session.view(seats.game_id, None)).update.version == 10


async def until_it_works(call: Callable[[], Awaitable[Answer]]) -> tuple[Answer, int]:
    """As a client should: the same request, as long as it is told to come back. Gives the number of refusals too."""
    for refusals in range(200):
        try:
            return await call(), refusals
        except aio.AioRpcError as error:
            refusal = ServiceError.from_rpc_error(error, Reason.INTERNAL)
            assert refusal.reason in (Reason.STORE_UNAVAILABLE, Reason.ENGINE_UNAVAILABLE), refusal
            assert refusal.retry_after is not None
            await asyncio.sleep(refusal.retry_after / 10)
    raise AssertionError("never came back")


async def play_on(session: Session, seats: Seats, random: Random, moves: list[bytes]) -> int:
    """Plays to the end whatever happens; gives the number of refusals."""
    refusals = 0
    asked = list(range(5))
    while asked:
        seat = random.choice(asked)
        decision, refused_views = await until_it_works(partial(seats.decision, session, seat))
        request = seats.choice(seat, decision, picks_at_random(random, decision))
        response, refused_choices = await until_it_works(partial(session.choose_raw, request))
        refusals += refused_views + refused_choices
        moves.append(response)
        asked = list(session_pb2.ChooseResponse.FromString(response).update.asked)
    return refusals


async def watch_on(session: Session, seats: Seats, token: str | None) -> list[table_pb2.Update]:
    """As a client should: watches again from its last cursor, whenever the stream breaks off."""
    updates: list[table_pb2.Update] = []
    cursor = None
    while not (updates and updates[-1].HasField("outcome")):
        try:
            async for response in session.watch(seats.game_id, token, cursor):
                cursor = response.cursor
                updates.append(response.snapshot.update if response.HasField("snapshot") else response.update)
        except aio.AioRpcError as error:
            refusal = ServiceError.from_rpc_error(error, Reason.INTERNAL)
            assert refusal.retry_after is not None, refusal
            await asyncio.sleep(0.05)
    return updates


async def test_play_goes_on_after_the_store_was_killed(
    processes: Processes, settings: Settings, own_store: OwnStore
) -> None:
    ready = processes.serve("session", settings.model_copy(update={"store_url": SecretStr(own_store.url)}))
    async with client_of(ready.address) as (session,):
        seats = await session.create()
        moves: list[bytes] = []
        watching = [asyncio.create_task(watch_on(session, seats, token)) for token in (seats.tokens[1], None)]
        playing = asyncio.create_task(play_on(session, seats, Random(SEED), moves))
        for kill_at in (10, 30):
            while len(moves) < kill_at:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(own_store.kill)
            await asyncio.sleep(0.5)
            await asyncio.to_thread(own_store.restart)
        refusals = await playing
        feeds = await asyncio.wait_for(asyncio.gather(*watching), SECONDS)

    assert refusals > 0
    versions = [session_pb2.ChooseResponse.FromString(move).update.version for move in moves]
    assert versions == list(range(1, len(moves) + 1))
    for feed in feeds:
        assert [update.version for update in feed] == list(range(feed[0].version, len(moves) + 1))


async def test_play_goes_on_after_the_engine_was_killed(processes: Processes, settings: Settings) -> None:
    engine = processes.serve("engine", settings)
    address = {"engine_addresses": (engine.address,)}
    ready = processes.serve("session", settings.model_copy(update=address))
    async with client_of(ready.address) as (session,):
        seats = await session.create()
        moves: list[bytes] = []
        playing = asyncio.create_task(play_on(session, seats, Random(SEED), moves))
        while len(moves) < 10:
            await asyncio.sleep(0.01)
        os.kill(engine.pid, signal.SIGKILL)
        with pytest.raises(aio.AioRpcError) as error:
            await session.view(seats.game_id, None)
        refusal = ServiceError.from_rpc_error(error.value, Reason.INTERNAL)
        assert (refusal.reason, refusal.retry_after) == (Reason.ENGINE_UNAVAILABLE, 1.0)
        port = int(engine.address.rpartition(":")[2])
        processes.serve("engine", settings.model_copy(update={"port": port}))
        await playing

    versions = [session_pb2.ChooseResponse.FromString(move).update.version for move in moves]
    assert versions == list(range(1, len(moves) + 1))


async def test_with_a_second_engine_nobody_notices_that_one_was_killed(
    processes: Processes, settings: Settings
) -> None:
    engines = [processes.serve("engine", settings) for _ in range(2)]
    addresses = tuple(engine.address for engine in engines)
    ready = processes.serve("session", settings.model_copy(update={"engine_addresses": addresses}))
    async with client_of(ready.address) as (session,):
        seats = await session.create()
        await seats.play(session, Random(SEED), moves=10)
        os.kill(engines[0].pid, signal.SIGKILL)
        await seats.play(session, Random(SEED))
        assert (await session.view(seats.game_id, None)).update.HasField("outcome")


async def test_cancelled_calls_leave_every_answer_to_its_own_question(both: list[Session]) -> None:
    """Choices and views are cancelled at every point of their way; each answer is still that of its own game."""
    random = Random(SEED)
    games = [await both[0].create(seed=seed) for seed in range(6)]
    decisions = {
        (number, seat): await games[number].decision(both[0], seat) for number in range(6) for seat in range(5)
    }
    requests = {(number, seat): games[number].choice(seat, decisions[number, seat]) for number, seat in decisions}

    async def look(number: int, seat: int) -> None:
        seen = await random.choice(both).view(games[number].game_id, games[number].tokens[seat])
        assert seen.view.seat == seat

    async def choose(number: int, seat: int) -> None:
        await random.choice(both).choose_raw(requests[number, seat])

    for _ in range(10):
        tasks = [
            asyncio.create_task(random.choice((look, look, choose))(*random.choice(list(requests)))) for _ in range(30)
        ]
        for task in tasks:
            if random.random() < 0.6:
                asyncio.get_running_loop().call_later(random.random() * 0.03, task.cancel)
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            assert outcome is None or isinstance(outcome, asyncio.CancelledError), f"seed {SEED}"

    for number, game in enumerate(games):
        updates = [await both[0].choose(requests[number, seat]) for seat in range(5)]
        assert sorted(update.version for update in updates) == [1, 2, 3, 4, 5]
        assert (await both[1].view(game.game_id, None)).update.version == 5
