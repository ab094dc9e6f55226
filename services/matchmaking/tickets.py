"""Tickets and claims in the store."""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from services.matchmaking import keys, scripts, sealing
from services.matchmaking.keys import Bucket
from services.matchmaking.pools import Pool
from services.runtime import failpoints
from services.runtime.errors import Reason, ServiceError
from services.runtime.servers import Value
from services.runtime.store import Script, Store

# Who takes up work has this long to finish it before somebody else tries as well.
LEASE_SECONDS = 3.0
# How long the end of a ticket can be asked for.
KEPT_SECONDS = 3600.0
_REQUEST_SECONDS = 86_400.0
_CONTENT_BYTES = 16


class Deletion(Enum):
    DELETED = "deleted"
    MATCHED = "matched"
    GONE = "gone"


@dataclass(frozen=True)
class Created:
    ticket_id: str
    pool_is_full: bool
    """It has enough tickets for a game."""


@dataclass(frozen=True)
class TicketState:
    waits: bool
    """In the queue."""
    claim: str | None
    """The claim by which it is chosen for a game; for good."""
    cancelled: bool
    matched: bytes | None
    """Its seat, closed; `seat` opens it."""
    refused: bytes | None
    """A `google.rpc.Status`, encoded: why the game could not be created."""

    def seat(self, ticket_id: str) -> bytes | None:
        """A `Matched` message, encoded."""
        if self.matched is None or self.claim is None:
            return None
        return sealing.cross(self.matched, sealing.seat_key(ticket_id), bytes.fromhex(self.claim))


@dataclass(frozen=True)
class Claim:
    """Tickets chosen for one game, in the order of their seats."""

    id: str
    pool: Pool
    tickets: tuple[str, ...]
    """Their names."""
    seat_keys: tuple[bytes, ...]
    attempts: int
    """How often creating the game failed."""
    players: tuple[str, ...]
    """Whose tickets they are, as the players named themselves."""

    @property
    def request_id(self) -> str:
        """Under which the game is created, by whoever gets to it: always the same game. Secret."""
        return sealing.game_request_id(self.id, self.seat_keys)


class Tickets:
    """Every method can raise STORE_UNAVAILABLE."""

    def __init__(self, store: Store, life_seconds: float) -> None:
        self._store = store
        self._life = _ms(life_seconds)

    async def create(self, request_id: str, player_id: str, pool: Pool) -> Created:
        """Queues a ticket; a repeated request gets the ticket it had.

        Raises:
            ServiceError: REQUEST_ID_REUSED.
        """
        asked = json.dumps([player_id, pool.encoded]).encode()
        content = hashlib.blake2b(asked, digest_size=_CONTENT_BYTES).digest()
        key, salt = sealing.request_key(request_id), secrets.token_bytes(sealing.SALT_BYTES)
        remembered = content + salt + sealing.cross(pool.bucket.new_ticket_id().encode(), key, salt)
        first = await self._store.run(
            scripts.REMEMBER,
            [keys.request_key(request_id)],
            [remembered, _ms(_REQUEST_SECONDS)],
            confirmed=True,
        )
        first_content, rest = first[:_CONTENT_BYTES], first[_CONTENT_BYTES:]
        if first_content != content:
            raise ServiceError(
                Reason.REQUEST_ID_REUSED, "another ticket was asked for under this request id", field="request_id"
            )
        failpoints.step("ticket.remembered")
        salt, closed = rest[: sealing.SALT_BYTES], rest[sealing.SALT_BYTES :]
        ticket_id = sealing.cross(closed, key, salt).decode()
        name = keys.name_of(ticket_id)
        full = await self._run(
            scripts.ENQUEUE,
            pool,
            [pool.bucket.ticket(name), pool.bucket.arrivals],
            [_ms(LEASE_SECONDS), name, player_id, self._life, _ms(KEPT_SECONDS), sealing.seat_key(ticket_id)],
        )
        failpoints.step("ticket.queued")
        return Created(ticket_id, bool(full))

    async def pool_of(self, ticket_id: str) -> Pool | None:
        """The pool of a ticket; None if there is no such ticket."""
        bucket = keys.bucket_of_ticket(ticket_id)
        encoded = await self._store.call("HGET", bucket.ticket(keys.name_of(ticket_id)), "pool") if bucket else None
        return Pool.decode(encoded) if encoded else None

    async def delete(self, pool: Pool, ticket_id: str) -> Deletion:
        name = keys.name_of(ticket_id)
        answer = await self._run(
            scripts.DELETE, pool, [pool.bucket.ticket(name)], [_ms(LEASE_SECONDS), name, _ms(KEPT_SECONDS)]
        )
        return Deletion(str(answer, "ascii"))

    async def follow(self, pool: Pool, tickets: Mapping[str, bool]) -> tuple[int, dict[str, TicketState]]:
        """Prolongs the lives of waiting tickets of a pool and gives how many wait in it, and the tickets' states.

        Args:
            tickets: by name, whether each has been followed without a gap since it was last seen waiting. Such a ticket
                has not expired, even if the store was away for longer than its life.
        """
        waiting, states = await self._run(
            scripts.FOLLOW,
            pool,
            [pool.bucket.ticket(name) for name in tickets],
            [
                _ms(LEASE_SECONDS),
                self._life,
                _ms(KEPT_SECONDS),
                *(part for name, followed in tickets.items() for part in (name, int(followed))),
            ],
        )
        return waiting, {
            name: TicketState(
                bool(waits), None if claim is None else str(claim, "ascii"), cancelled is not None, matched, refused
            )
            for name, (waits, claim, cancelled, matched, refused) in zip(tickets, states, strict=True)
        }

    async def claim_oldest(self, pool: Pool) -> str | None:
        """Claims the tickets that have waited longest, if there are enough for a game, and gives the claim's id."""
        claim_id = keys.new_claim_id()
        while oldest := await self._run(scripts.OLDEST, pool, [], [_ms(LEASE_SECONDS)]):
            tickets = [str(ticket, "ascii") for ticket in oldest]
            failpoints.step("match.chosen")
            claimed = await self._run(
                scripts.CLAIM,
                pool,
                [pool.bucket.claim(claim_id), *map(pool.bucket.ticket, tickets)],
                [_ms(LEASE_SECONDS), claim_id, *tickets],
            )
            if claimed:
                failpoints.step("match.claimed")
                return claim_id
        return None

    async def take_due(self, bucket: Bucket) -> list[str]:
        """Takes up the work that is due in a bucket: `pool:<encoded pool>` and `claim:<claim id>`."""
        items = await self._store.run(scripts.TAKE_DUE, [bucket.due], [_ms(LEASE_SECONDS)])
        return [str(item, "utf-8") for item in items]

    async def load_claim(self, bucket: Bucket, claim_id: str) -> Claim | None:
        """A claim; None if it is settled."""
        fields = await self._store.call("HMGET", bucket.claim(claim_id), "pool", "tickets", "keys", "attempts")
        pool, tickets, seat_keys, attempts = fields
        if pool is None:
            return None
        names = tuple(str(tickets, "ascii").split())
        players = [await self._store.call("HGET", bucket.ticket(name), "player") for name in names]
        if None in players:
            return None  # it was settled just now, and its tickets are long over
        return Claim(
            claim_id,
            Pool.decode(pool),
            names,
            tuple(
                seat_keys[start : start + sealing.KEY_BYTES] for start in range(0, len(seat_keys), sealing.KEY_BYTES)
            ),
            int(attempts),
            tuple(str(player, "utf-8") for player in players),
        )

    async def settle_matched(self, claim: Claim, matched: Sequence[bytes]) -> bool:
        """Gives each ticket of a claim its encoded `Matched`; false if that, or a refusal, was done before."""
        salt = bytes.fromhex(claim.id)
        closed = [sealing.cross(seat, key, salt) for seat, key in zip(matched, claim.seat_keys, strict=True)]
        return await self._settle(claim, "matched", closed)

    async def settle_refused(self, claim: Claim, status: bytes) -> bool:
        """Tells each ticket of a claim why there is no game; false if that, or a match, was done before."""
        return await self._settle(claim, "refused", [status] * len(claim.tickets))

    async def _settle(self, claim: Claim, field: str, values: Sequence[bytes]) -> bool:
        bucket = claim.pool.bucket
        done = await self._run(
            scripts.SETTLE,
            claim.pool,
            [bucket.claim(claim.id), *map(bucket.ticket, claim.tickets)],
            [claim.id, _ms(KEPT_SECONDS), field, *values, *claim.tickets],
        )
        return bool(done)

    async def postpone(self, claim: Claim, seconds: float) -> None:
        bucket = claim.pool.bucket
        await self._store.run(scripts.POSTPONE, [bucket.due, bucket.claim(claim.id)], [claim.id, _ms(seconds)])

    async def _run(self, script: Script, pool: Pool, more_keys: Sequence[str], more_arguments: Sequence[Value]) -> Any:
        bucket = pool.bucket
        return await self._store.run(
            script,
            [bucket.queue(pool.id), bucket.deadlines(pool.id), bucket.due, *more_keys],
            [pool.id, pool.encoded, pool.seats, bucket.channel, *more_arguments],
            confirmed=True,
        )


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
