"""Matchmaking processes on a real store, engine and session service."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from grpc import aio
from pydantic import SecretStr

from roundtable.matchmaking.v1 import matchmaking_pb2
from roundtable.session.v1 import session_pb2, session_pb2_grpc
from services.matchmaking.pools import Pool
from services.matchmaking.tickets import Tickets
from services.runtime.errors import Reason, ServiceError
from services.runtime.processes import Processes
from services.runtime.server import Ready, open_channel
from services.runtime.settings import Settings
from services.runtime.store import open_store
from tests.integration.conftest import OwnStore
from tests.integration.matchmaking_fixtures import (
    SECONDS,
    Gate,
    Matchmaking,
    gate_before,
    matchmaking,
    refusal,
)


@pytest.fixture
def games(settings: Settings, sessions: tuple[Ready, Ready]) -> Settings:
    """Settings of matchmaking in the store that all tests share."""
    return settings.model_copy(update={"session_address": sessions[0].address})


@pytest.fixture
def apart(games: Settings, own_store: OwnStore) -> Settings:
    """The same in a store of the test's own: matchmaking processes of one store do each other's work."""
    return games.model_copy(update={"store_url": SecretStr(own_store.url)})


@pytest.fixture(scope="module")
def running(settings: Settings, sessions: tuple[Ready, Ready], service_logs: Path) -> Iterator[Ready]:
    with Processes(logs=service_logs) as processes:
        yield processes.serve("matchmaking", settings.model_copy(update={"session_address": sessions[0].address}))


@pytest.fixture
async def one(running: Ready, games: Settings) -> AsyncIterator[Matchmaking]:
    """A process in the shared store."""
    async with open_channel(running.address, games) as channel:
        yield Matchmaking(running, channel, secrets.randbits(63))


@pytest.fixture
async def gate(apart: Settings) -> AsyncIterator[tuple[Gate, Settings]]:
    async with gate_before(apart) as opened:
        yield opened


async def test_five_players_meet_and_sit_in_the_order_of_their_tickets(
    one: Matchmaking, games: Settings, service_logs: Path
) -> None:
    tickets = []
    for number in range(1, 6):
        tickets.append(await one.create(seats=5, seed=None, options={"convocation_return": "must"}))
        if number < 5:
            assert await one.waiting(tickets[0]) == number

    seats = await one.seats(tickets)
    assert [seat.seat for seat in seats] == [0, 1, 2, 3, 4]
    assert len({seat.game_id for seat in seats}) == 1
    assert len({seat.seat_token for seat in seats}) == 5
    assert all(len(seat.commitment.commitment) == 32 and seat.commitment.verifiable for seat in seats)

    assert games.session_address is not None
    async with open_channel(games.session_address, games) as channel:
        session = session_pb2_grpc.SessionServiceStub(channel)
        for seat in seats:
            request = session_pb2.GetViewRequest(game_id=seat.game_id, seat_token=seat.seat_token)
            assert (await session.GetView(request)).view.seat == seat.seat
        spectator = await session.GetView(session_pb2.GetViewRequest(game_id=seats[0].game_id))
        assert not spectator.view.HasField("seat")

    log = (service_logs / "matchmaking.log").read_text()
    assert seats[0].game_id in log
    assert not [held for held in (*tickets, *(seat.seat_token for seat in seats)) if held in log]


async def test_a_follower_is_told_each_change(one: Matchmaking) -> None:
    ticket = await one.create()
    watch = one.watch(ticket)
    assert (await anext(watch)).waiting == matchmaking_pb2.Waiting(waiting=1, needed=3)
    second = await one.create()
    assert (await anext(watch)).waiting.waiting == 2
    await one.delete(second)
    assert (await anext(watch)).waiting.waiting == 1
    await one.create()
    assert (await anext(watch)).waiting.waiting == 2
    await one.create()
    statuses = [status async for status in watch]
    assert [status.WhichOneof("status") for status in statuses[-1:]] == ["matched"]
    assert all(status.waiting.waiting == 3 for status in statuses[:-1])


async def test_followers_come_back_and_are_as_many_as_like(one: Matchmaking) -> None:
    ticket, *others = await one.create_all(2)
    before = one.watch(ticket)
    assert (await anext(before)).waiting.waiting == 2
    await before.aclose()  # type: ignore[attr-defined]
    again, twice = one.watch(ticket), one.watch(ticket)
    assert (await anext(again)).waiting.waiting == 2
    assert (await anext(twice)).waiting.waiting == 2

    others.append(await one.create())
    seats = await one.seats([ticket, ticket, *others])
    assert seats[0] == seats[1]
    for watch in (again, twice):
        assert [status.matched async for status in watch if status.HasField("matched")] == [seats[0]]
    assert await one.seat(ticket) == seats[0]


async def test_only_those_meet_who_want_the_same(one: Matchmaking) -> None:
    seed = one.seed
    assert seed is not None
    wishes: list[dict[str, object]] = [
        {},
        {"seed": seed + 1},
        {"seed": seed + 2},
        {"seats": 4},
        {"options": {"heal_with_merlins": "true"}},
    ]
    tickets = [await one.create_all(2, **wish) for wish in wishes]
    for pair in tickets:
        assert [await one.waiting(ticket) for ticket in pair] == [2, 2]

    # Naming a default is the same wish as leaving it out.
    third = await one.create(options={"heal_with_merlins": "false"})
    seats = await one.seats([*tickets[0], third])
    assert [seat.seat for seat in seats] == [0, 1, 2]
    for pair in tickets[1:]:
        assert [await one.waiting(ticket) for ticket in pair] == [2, 2]


async def test_equal_seeds_make_games_that_say_so(one: Matchmaking) -> None:
    seats = await one.seats(await one.create_all(3))
    assert not seats[0].commitment.verifiable


@pytest.mark.parametrize(
    ("wish", "reason", "field"),
    [
        ({"game": "bridge"}, Reason.UNKNOWN_GAME, "game"),
        ({"seats": 2}, Reason.SEATS_OUT_OF_RANGE, "seats"),
        ({"options": {"length": "short"}}, Reason.UNKNOWN_GAME_OPTION, "options.length"),
        ({"options": {"heal_with_merlins": "both"}}, Reason.GAME_OPTION_VALUE, "options.heal_with_merlins"),
        ({"request_id": "short"}, Reason.FIELD_INVALID, "request_id"),
        ({"player_id": ""}, Reason.FIELD_MISSING, "player_id"),
    ],
)
async def test_bad_wishes_are_refused_with_their_field(
    one: Matchmaking, wish: dict[str, object], reason: Reason, field: str
) -> None:
    error = await refusal(one.create(**wish))  # type: ignore[arg-type]
    assert (error.reason, error.field) == (reason, field)


async def test_seeds_are_for_servers_that_allow_them(processes: Processes, apart: Settings) -> None:
    async with matchmaking(processes, apart.model_copy(update={"allow_seeds": False})) as process:
        error = await refusal(process.create(seed=1))
    assert (error.reason, error.field) == (Reason.SEEDS_NOT_ALLOWED, "seed")


async def test_two_hundred_at_once_over_two_processes_get_one_seat_each(
    one: Matchmaking, processes: Processes, games: Settings
) -> None:
    async with matchmaking(processes, games, one.seed) as other:
        both = (one, other)

        async def play(number: int) -> matchmaking_pb2.Matched:
            ticket = await both[number % 2].create(seats=5)
            return await both[number // 2 % 2].seat(ticket)

        seats = await asyncio.gather(*map(play, range(200)))
    tables = defaultdict(list)
    for seat in seats:
        tables[seat.game_id].append(seat.seat)
    assert len(tables) == 40
    assert all(sorted(taken) == [0, 1, 2, 3, 4] for taken in tables.values())
    assert len({seat.seat_token for seat in seats}) == 200


async def test_a_repeated_request_gets_the_same_ticket(one: Matchmaking, processes: Processes, games: Settings) -> None:
    request_id = str(uuid.uuid4())
    async with matchmaking(processes, games, one.seed) as other:
        created = await asyncio.gather(*(process.create(request_id=request_id) for process in (one, other) * 10))
    assert len(set(created)) == 1
    assert await one.waiting(created[0]) == 1

    for wish in ({"seats": 4}, {"player_id": "galahad"}, {"seed": None}):
        error = await refusal(one.create(request_id=request_id, **wish))
        assert (error.reason, error.field) == (Reason.REQUEST_ID_REUSED, "request_id")
    assert await one.create(request_id=request_id, options={"heal_with_merlins": "false"}) == created[0]

    seat = await one.seats([created[0], *await one.create_all(2)])
    assert await one.create(request_id=request_id) == created[0]
    assert await one.seat(created[0]) == seat[0]


async def test_a_deleted_ticket_is_out(one: Matchmaking) -> None:
    ticket, other = await one.create_all(2)
    watch = one.watch(ticket)
    await anext(watch)
    await one.delete(ticket)
    assert [status.WhichOneof("status") async for status in watch][-1] == "cancelled"
    await one.delete(ticket)
    assert (await one.status(ticket)).HasField("cancelled")

    seats = await one.seats([other, *await one.create_all(2)])
    assert [seat.seat for seat in seats] == [0, 1, 2]
    error = await refusal(one.delete(other))
    assert error.reason is Reason.TICKET_MATCHED


@pytest.mark.parametrize("ticket", ["m3-" + "a" * 43, "anything", "{m3}:due"])
async def test_unknown_tickets_are_not_found(one: Matchmaking, ticket: str) -> None:
    for call in (one.delete(ticket), one.status(ticket)):
        error = await refusal(call)
        assert (error.reason, error.field) == (Reason.TICKET_NOT_FOUND, "ticket_id")
        assert ticket not in error.message


async def test_a_ticket_that_is_being_seated_cannot_be_deleted(
    processes: Processes, gate: tuple[Gate, Settings]
) -> None:
    session, settings = gate
    async with matchmaking(processes, settings) as process:
        session.open.clear()
        tickets = await process.create_all(3)
        await asyncio.wait_for(session.called.wait(), SECONDS)
        for ticket in tickets:
            assert (await process.status(ticket)).waiting == matchmaking_pb2.Waiting(waiting=3, needed=3)
            error = await refusal(process.delete(ticket))
            assert error.reason is Reason.TICKET_MATCHED
        session.open.set()
        assert len({seat.game_id for seat in await process.seats(tickets)}) == 1


async def test_what_a_killed_process_began_another_finishes(processes: Processes, gate: tuple[Gate, Settings]) -> None:
    """Killed when the tickets are claimed and the game is there, and before anybody has a seat."""
    session, settings = gate
    async with matchmaking(processes, settings) as victim, matchmaking(processes, settings) as heir:
        session.open.clear()
        tickets = await victim.create_all(3)
        following = [asyncio.ensure_future(heir.seat(ticket)) for ticket in tickets]
        await asyncio.wait_for(session.called.wait(), SECONDS)
        os.kill(victim.ready.pid, signal.SIGKILL)
        session.open.set()
        seats = await asyncio.gather(*following)
    assert [seat.seat for seat in seats] == [0, 1, 2]
    assert len({seat.game_id for seat in seats}) == 1
    assert len(session.calls) == 2
    assert session.calls[0] == session.calls[1]


@pytest.mark.parametrize("claimed", [False, True])
async def test_what_a_process_left_undone_is_done_within_five_seconds(
    one: Matchmaking, games: Settings, *, claimed: bool
) -> None:
    """It ended when the last ticket was queued, or when the tickets were claimed."""
    pool = Pool("camelot", 3, (), one.seed)
    assert games.store_url is not None
    async with open_store(games.store_url.get_secret_value()) as store:
        ended = Tickets(store, 60)
        created = [await ended.create(str(uuid.uuid4()), "gawain", pool) for _ in range(3)]
        assert [each.pool_is_full for each in created] == [False, False, True]
        if claimed:
            assert await ended.claim_oldest(pool)
        async with asyncio.timeout(5):
            seats = await one.seats([each.ticket_id for each in created])
        assert [seat.seat for seat in seats] == [0, 1, 2]
        assert await store.call("ZSCORE", pool.bucket.due, f"pool:{pool.encoded}") is None


async def test_while_the_session_service_is_away_the_match_waits(
    processes: Processes, gate: tuple[Gate, Settings]
) -> None:
    session, settings = gate
    async with matchmaking(processes, settings) as process:
        session.refusal = ServiceError(Reason.SESSION_UNAVAILABLE, "away")
        tickets = await process.create_all(3)
        while len(session.calls) < 2:
            await asyncio.wait_for(session.called.wait(), SECONDS)
            session.called.clear()
        assert [await process.waiting(ticket) for ticket in tickets] == [3, 3, 3]
        session.refusal = None
        seats = await process.seats(tickets)
    assert [seat.seat for seat in seats] == [0, 1, 2]
    assert len({call.request_id for call in session.calls}) == 1


async def test_a_session_service_that_is_not_there_is_waited_for(
    processes: Processes, apart: Settings, tmp_path: Path
) -> None:
    async with gate_before(apart) as (_, settings):
        address = settings.session_address
    assert address is not None
    async with matchmaking(processes, settings) as process:
        tickets = await process.create_all(3)
        following = [asyncio.ensure_future(process.seat(ticket)) for ticket in tickets]
        while "SESSION_UNAVAILABLE" not in (tmp_path / "matchmaking.log").read_text():
            await asyncio.sleep(0.01)
        late = apart.model_copy(update={"port": int(address.rpartition(":")[2])})
        await asyncio.to_thread(processes.serve, "session", late)
        seats = await asyncio.gather(*following)
    assert len({seat.game_id for seat in seats}) == 1


async def test_a_game_that_is_refused_is_told_to_all_who_wait_for_it(
    processes: Processes, gate: tuple[Gate, Settings]
) -> None:
    session, settings = gate
    session.refusal = ServiceError(Reason.SEEDS_NOT_ALLOWED, "no seeds here", field="seed")
    async with matchmaking(processes, settings) as process:
        tickets = await process.create_all(2, seed=1)
        following = [asyncio.ensure_future(refusal(process.last(ticket))) for ticket in tickets]
        tickets.append(await process.create(seed=1))
        for error in (*await asyncio.gather(*following), await refusal(process.status(tickets[2]))):
            assert (error.reason, error.field, error.message) == (
                Reason.SEEDS_NOT_ALLOWED,
                "seed",
                "no seeds here",
            )
        await process.delete(tickets[0])
    assert len(session.calls) == 1


async def test_a_ticket_lives_as_long_as_somebody_follows_it(processes: Processes, apart: Settings) -> None:
    async with matchmaking(processes, apart.model_copy(update={"ticket_seconds": 0.6})) as process:
        followed, left = await process.create_all(2)
        watch = process.watch(followed)
        assert [(await anext(watch)).waiting.waiting for _ in range(2)] == [2, 1]
        error = await refusal(process.status(left))
        assert error.reason is Reason.TICKET_NOT_FOUND
        assert (await refusal(process.delete(left))).reason is Reason.TICKET_NOT_FOUND
        await asyncio.sleep(1.2)  # two lives

        seats = await process.seats([followed, *await process.create_all(2)])
    assert [seat.seat for seat in seats] == [0, 1, 2]


async def test_while_the_store_is_away_calls_say_so_and_followers_keep_their_places(
    processes: Processes, apart: Settings, own_store: OwnStore
) -> None:
    # Their life is shorter than the store is away: who is followed all the while does not expire.
    async with matchmaking(processes, apart.model_copy(update={"ticket_seconds": 1})) as process:
        tickets = await process.create_all(2)
        watches = [process.watch(ticket) for ticket in tickets]
        assert [(await anext(watch)).waiting.waiting for watch in watches] == [2, 2]
        own_store.kill()
        for call in (process.create(), process.status(tickets[0]), process.delete(tickets[0])):
            error = await refusal(call)
            assert error.reason is Reason.STORE_UNAVAILABLE
            assert error.retry_after is not None
        await asyncio.sleep(1)

        own_store.restart()
        request_id, third = str(uuid.uuid4()), ""
        while not third:
            with suppress(aio.AioRpcError):
                third = await process.create(request_id=request_id)
        assert (await process.seat(third)).seat == 2
        for watch in watches:
            assert [status.WhichOneof("status") async for status in watch][-1] == "matched"
        assert [seat.seat for seat in await process.seats(tickets)] == [0, 1]


async def test_without_an_engine_wishes_cannot_be_read(processes: Processes, apart: Settings) -> None:
    async with gate_before(apart) as (_, settings):
        nobody = settings.session_address
    assert nobody is not None
    away = apart.model_copy(update={"engine_addresses": (nobody,)})
    async with matchmaking(processes, away) as process:
        error = await refusal(process.create())
    assert error.reason is Reason.ENGINE_UNAVAILABLE
    assert error.retry_after is not None


async def test_one_engine_of_several_is_enough(processes: Processes, apart: Settings) -> None:
    async with gate_before(apart) as (_, settings):
        nobody = settings.session_address
    assert nobody is not None
    half = apart.model_copy(update={"engine_addresses": (nobody, *apart.engine_addresses)})
    async with matchmaking(processes, half) as process:
        assert await process.waiting(await process.create()) == 1
