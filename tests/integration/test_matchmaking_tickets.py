"""Tickets in a real store: whatever happens at once, and twice, a ticket gets one end."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Sequence

import pytest

from services.matchmaking.keys import name_of
from services.matchmaking.pools import Pool
from services.matchmaking.sealing import seat_key
from services.matchmaking.tickets import Created, Deletion, Tickets
from services.runtime.servers import Value
from services.runtime.store import Script, Store, open_store
from tests.integration.conftest import OwnStore

SEED = 20261201
POOL = Pool("camelot", 3, (), None)


@pytest.fixture
async def store(own_store: OwnStore) -> AsyncIterator[Store]:
    async with open_store(own_store.url) as opened:
        yield opened


async def create(tickets: Tickets) -> Created:
    return await tickets.create(secrets.token_hex(), "gawain", POOL)


class Repeating(Store):
    """Sends scripts twice, like a client whose connection broke before the answer came."""

    async def _run(self, script: Script, keys: Sequence[Value], arguments: Sequence[Value], replicas: int) -> object:
        await super()._run(script, keys, arguments, replicas)
        return await super()._run(script, keys, arguments, replicas)


@pytest.mark.parametrize("repeating", [False, True])
async def test_tickets_that_come_go_and_are_claimed_all_at_once(store: Store, *, repeating: bool) -> None:
    chance = random.Random(SEED)
    tickets = Tickets(Repeating(store.servers) if repeating else store, 60)
    seated: Counter[str] = Counter()
    deletions: dict[str, Deletion] = {}
    matchmakers = asyncio.Semaphore(4)

    async def match() -> None:
        async with matchmakers:
            await form()

    async def form() -> None:
        while claim_id := await tickets.claim_oldest(POOL):
            claim = await tickets.load_claim(POOL.bucket, claim_id)
            assert claim is not None
            # Two that carry on the same claim.
            done = await asyncio.gather(*(tickets.settle_matched(claim, [b"a", b"b", b"c"]) for _ in range(2)))
            assert sum(done) == (0 if repeating else 1)
            seated.update(claim.tickets)

    async def play(_number: int) -> str:
        await asyncio.sleep(chance.random() / 10)
        created = await create(tickets)
        if created.pool_is_full:
            await match()
        if chance.random() < 0.3:
            deletions[created.ticket_id] = await tickets.delete(POOL, created.ticket_id)
        return created.ticket_id

    created = await asyncio.gather(*map(play, range(200)))
    await match()

    assert len(set(created)) == 200
    assert max(seated.values()) == 1
    for ticket_id, deletion in deletions.items():
        assert (deletion is Deletion.DELETED) == (name_of(ticket_id) not in seated), f"seed {SEED}"
    waiting, states = await tickets.follow(POOL, dict.fromkeys(map(name_of, created), False))
    assert waiting == sum(state.waits for state in states.values()) < 3
    for name, state in states.items():
        assert (state.matched is not None) == (name in seated)
        assert state.waits + state.cancelled + (state.matched is not None) == 1
    assert await store.call("ZSCORE", POOL.bucket.due, f"pool:{POOL.encoded}") is None


async def test_the_oldest_tickets_are_claimed_first(store: Store) -> None:
    tickets = Tickets(store, 60)
    created = [(await create(tickets)).ticket_id for _ in range(7)]
    await tickets.delete(POOL, created[1])
    names = [name_of(ticket_id) for ticket_id in created]

    for expected in ((names[0], names[2], names[3]), (names[4], names[5], names[6])):
        claim_id = await tickets.claim_oldest(POOL)
        assert claim_id is not None
        claim = await tickets.load_claim(POOL.bucket, claim_id)
        assert claim is not None
        assert claim.tickets == expected
    assert await tickets.claim_oldest(POOL) is None


async def test_a_claim_that_fails_is_due_again_later(store: Store) -> None:
    tickets = Tickets(store, 60)
    for _ in range(3):
        await create(tickets)
    claim_id = await tickets.claim_oldest(POOL)
    assert claim_id is not None
    assert await tickets.take_due(POOL.bucket) == []
    claim = await tickets.load_claim(POOL.bucket, claim_id)
    assert claim is not None

    await tickets.postpone(claim, 0)
    assert await tickets.take_due(POOL.bucket) == [f"claim:{claim_id}"]
    assert await tickets.take_due(POOL.bucket) == []
    again = await tickets.load_claim(POOL.bucket, claim_id)
    assert again is not None
    assert (again.attempts, again.request_id, again.tickets) == (1, claim.request_id, claim.tickets)


async def test_nothing_is_kept_for_ever(store: Store) -> None:
    tickets = Tickets(store, 60)
    created = [(await create(tickets)).ticket_id for _ in range(5)]
    await tickets.delete(POOL, created[0])
    claim_id = await tickets.claim_oldest(POOL)
    assert claim_id is not None
    claim = await tickets.load_claim(POOL.bucket, claim_id)
    assert claim is not None
    for name in claim.tickets:
        assert await store.call("PTTL", POOL.bucket.ticket(name)) == -1  # until it has a seat

    await tickets.settle_refused(claim, b"")
    lasting = [key for key in await store.call("KEYS", "*") if await store.call("PTTL", key) == -1]
    assert lasting == [POOL.bucket.arrivals.encode()]


async def everything(store: Store) -> bytes:
    """All that the store holds, names of keys included."""
    found = []
    for key in await store.call("KEYS", "*"):
        read = {
            b"hash": ("HGETALL", key),
            b"string": ("GET", key),
            b"zset": ("ZRANGE", key, 0, -1),
        }[await store.call("TYPE", key)]
        found += [key, repr(await store.call(*read)).encode(), await store.call("DUMP", key)]
    return b" ".join(found)


async def test_the_store_holds_neither_ids_of_tickets_nor_their_seats(store: Store) -> None:
    tickets = Tickets(store, 60)
    requests = [secrets.token_hex() for _ in range(3)]
    created = [(await tickets.create(request, "gawain", POOL)).ticket_id for request in requests]
    seats = [secrets.token_urlsafe(90).encode() for _ in created]
    keys = [seat_key(ticket_id) for ticket_id in created]

    claim_id = await tickets.claim_oldest(POOL)
    assert claim_id is not None
    claim = await tickets.load_claim(POOL.bucket, claim_id)
    assert claim is not None
    assert claim.seat_keys == tuple(keys)
    claimed = await everything(store)
    await tickets.settle_matched(claim, seats)
    settled = await everything(store)

    for secret in (*map(str.encode, created), *map(str.encode, requests), claim.request_id.encode(), *seats):
        assert secret not in claimed + settled
    for key in keys:
        assert repr(key)[2:-1].encode() not in settled
    _, states = await tickets.follow(POOL, dict.fromkeys(claim.tickets, False))
    for ticket_id, seat in zip(created, seats, strict=True):
        assert states[name_of(ticket_id)].seat(ticket_id) == seat
        assert states[name_of(ticket_id)].seat(created[created.index(ticket_id) - 1]) != seat
    assert [(await tickets.create(request, "gawain", POOL)).ticket_id for request in requests] == created


async def test_a_ticket_that_is_taken_back_leaves_no_key(store: Store) -> None:
    tickets = Tickets(store, 60)
    ticket_id = (await create(tickets)).ticket_id
    assert await store.call("HGET", POOL.bucket.ticket(name_of(ticket_id)), "key") == seat_key(ticket_id)

    await tickets.delete(POOL, ticket_id)

    assert await store.call("HGET", POOL.bucket.ticket(name_of(ticket_id)), "key") is None
