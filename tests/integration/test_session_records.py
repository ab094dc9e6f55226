"""What is left of a game: its record, and games that are closed before their end."""

from __future__ import annotations

import asyncio
from hashlib import blake2b
from random import Random
from typing import Any

import msgspec
import pytest
from redis import Redis

from engine.catalogue import GAMES
from engine.core.chance import Seed
from engine.core.table import Table
from roundtable.engine.v1 import engine_pb2
from roundtable.session.v1 import session_pb2
from roundtable.table.v1 import table_pb2
from services.engine.service import given
from services.runtime.errors import Reason
from services.runtime.processes import Processes
from services.runtime.settings import Settings, required
from services.runtime.store import open_store
from services.session.abandoned import Abandoned
from services.session.keys import find_game, new_game
from services.session.players import PlayerIndex
from services.session.store import Entry, abandoned_work, decode_entry, encode_entry, games_of, now_ms
from tests.integration.seats import SECONDS, Seats, Session, client_of, new_request_id, refused

SEED = 20261203


async def record(session: Session, seats: Seats, token: str | None) -> table_pb2.Record:
    request = session_pb2.GetRecordRequest(game_id=seats.game_id, seat_token=token)
    return (await session.stub.GetRecord(request, timeout=SECONDS)).record


async def test_the_record_of_a_finished_game_is_the_game_for_everybody(session: Session) -> None:
    seats = await session.create(seed=None)
    moves = await seats.play(session, Random(SEED))

    found = await record(session, seats, None)

    for token in seats.tokens:
        assert await record(session, seats, token) == found
    assert (found.game_id, found.game, found.seats, found.closed) == (seats.game_id, "camelot", 5, "")
    assert found.commitment == seats.created.commitment
    assert blake2b(found.reveal.secret, digest_size=32).digest() == found.commitment.commitment
    assert found.reveal == moves[-1].update.reveal
    assert found.outcome == moves[-1].update.outcome
    assert [each.version for each in found.inputs] == list(range(1, found.version + 1))
    assert [(each.seat, each.decision) for each in found.inputs if each.kind == table_pb2.INPUT_KIND_ANSWER] == [
        (seats.tokens.index(move.request.seat_token), move.request.decision_id) for move in moves
    ]
    # Whoever has the record can play the game again, and finds the same history.
    seed = Seed(found.reveal.secret, tuple(found.reveal.contributions))
    table, _ = Table.new(GAMES.get(found.game), found.seats, found.options, seed)
    logged = [
        engine_pb2.LoggedInput(
            kind=engine_pb2.InputKind.ValueType(each.kind), seat=each.seat, decision=each.decision, picks=each.picks
        )
        for each in found.inputs
    ]
    again = Table.replay(GAMES, table.origin(found.seats), map(given, logged))
    assert again.digests == [each.digest for each in found.inputs]


@pytest.mark.rule("camelot R18.4")
async def test_before_the_end_a_seat_gets_its_own_inputs_only(session: Session) -> None:
    seats = await session.create()
    order = session_pb2.SetStandingOrdersRequest(
        game_id=seats.game_id, seat_token=seats.tokens[1], request_id="orders", orders={"nothing": "pass"}
    )
    await session.stub.SetStandingOrders(order, timeout=SECONDS)
    moves = await seats.play(session, Random(SEED), moves=30)

    for seat, token in enumerate(seats.tokens):
        found = await record(session, seats, token)
        own = [move.request.decision_id for move in moves if move.request.seat_token == token]
        assert {each.seat for each in found.inputs} == {seat}
        assert [each.decision for each in found.inputs if each.decision] == own
        assert [dict(each.orders) for each in found.inputs if each.orders] == (
            [{"nothing": "pass"}] if seat == 1 else []
        )
        assert (found.version, found.commitment, found.seats) == (31, seats.created.commitment, 5)
        assert not any(each.digest for each in found.inputs)
        shown = {field.name for field, _ in found.ListFields()}
        assert shown == {"game_id", "seats", "commitment", "inputs", "version"}
    with refused(Reason.GAME_NOT_OVER):
        await record(session, seats, None)


async def test_records_are_for_those_who_may_look(session: Session) -> None:
    closed = await session.create(spectators=False)
    with refused(Reason.SPECTATORS_NOT_ALLOWED):
        await record(session, closed, None)
    with refused(Reason.SEAT_TOKEN_INVALID):
        await record(session, closed, "x" * 43)
    await closed.play(session, Random(SEED))
    with refused(Reason.SPECTATORS_NOT_ALLOWED):
        await record(session, closed, None)
    assert (await record(session, closed, closed.tokens[0])).HasField("outcome")


async def test_a_log_that_is_no_longer_the_game_is_not_given_out(session: Session, store: Redis) -> None:
    seats = await session.create()
    await seats.play(session, Random(SEED))
    log = find_game(seats.game_id).log
    last = store.rpop(log)
    with refused(Reason.LOG_BROKEN):
        await record(session, seats, None)
    store.rpush(log, last, last)  # type: ignore[arg-type]  # bytes, as one is taken
    with refused(Reason.LOG_BROKEN):
        await record(session, seats, None)


async def test_an_abandoned_game_is_closed_for_all_and_forgotten_in_time(
    processes: Processes, settings: Settings, store: Redis
) -> None:
    # Whatever the shared services find due must not be closed by these settings.
    ready = processes.serve("session", settings.model_copy(update={"presence_seconds": 0.6, "heartbeat_seconds": 5.0}))
    async with client_of(ready.address) as (session,):
        seats = await session.create()
        game = find_game(seats.game_id)
        await seats.play(session, Random(SEED), moves=3)
        watching = asyncio.create_task(session.watch_to_end(seats.game_id, seats.tokens[0]))
        decision = await seats.decision(session, 4)
        # As it will be after 90 days without a move.
        newest: Any = store.xrevrange(game.feed, count=1)
        name, fields = newest[0]
        entry = decode_entry(fields[b"e"])
        entry = msgspec.structs.replace(entry, at_ms=entry.at_ms - 91 * 24 * 3600 * 1000)
        store.delete(game.feed)
        store.xadd(game.feed, {"e": encode_entry(entry)}, id=name)
        store.zadd(game.due, {abandoned_work(game): 1})

        feed = await asyncio.wait_for(watching, SECONDS)

        assert feed[-1].closed.reason == "nothing has happened for 90 days"
        assert await session.watch_to_end(seats.game_id, None, feed[-1].cursor) == []
        snapshot, closed = await session.watch_to_end(seats.game_id, None)
        assert snapshot.snapshot.update.version == 3
        assert closed.closed == feed[-1].closed
        with refused(Reason.GAME_OVER):
            await session.choose(seats.choice(4, decision))
        found = await record(session, seats, None)
        assert (found.closed, found.version) == ("nothing has happened for 90 days", 3)
        assert blake2b(found.reveal.secret, digest_size=32).digest() == found.commitment.commitment
        assert not found.HasField("outcome")
        assert store.zscore(game.due, abandoned_work(game)) is None
        assert 7 * 24 * 3600 - 60 < store.ttl(game.game) <= 7 * 24 * 3600


async def test_a_game_in_play_is_looked_at_and_left_alone(
    processes: Processes, settings: Settings, store: Redis
) -> None:
    ready = processes.serve("session", settings.model_copy(update={"presence_seconds": 0.6, "heartbeat_seconds": 5.0}))
    async with client_of(ready.address) as (session,):
        seats = await session.create()
        game = find_game(seats.game_id)
        store.zadd(game.due, {abandoned_work(game): 1})
        async with asyncio.timeout(SECONDS):
            while (store.zscore(game.due, abandoned_work(game)) or 0) < 10**12:
                await asyncio.sleep(0.05)
        await seats.play(session, Random(SEED), moves=3)


async def test_a_game_that_is_over_keeps_only_the_end_of_its_feed(settings: Settings, store: Redis) -> None:
    async with open_store(required("store_url", settings.store_url).get_secret_value()) as opened:
        games = games_of(opened, settings)
        game = new_game(new_request_id())
        for position in range(1, 4):
            entry = Entry(b"mark", now_ms(), position == 3, b"public" * 100, {})
            await opened.call("XADD", game.feed, f"{position}-0", "e", encode_entry(entry))
        await opened.call("HSET", game.game, "version", 0)
        await opened.call("EXPIRE", game.feed, 60)
        await Abandoned(opened, games, PlayerIndex(opened, finished_seconds=60), seconds=60).look(game.bucket, game.id)
        assert [position for position, _ in await games.feed(game, 0)] == [3]
        assert 50 < await opened.call("TTL", game.feed) <= 60
        await opened.call("DEL", game.feed)
        await opened.call("DEL", game.game)
