"""Where matchmaking keeps what in the store.

A pool belongs to one of 16 buckets. The bucket is the hash tag of all keys of its pools, tickets and claims, so
that one script may touch them on a Redis Cluster, and holds their due work, so that nobody has to look for it.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass

BUCKETS = 16

_SECRET_BYTES = 32
_TICKET_ID = re.compile(r"m(?P<bucket>[0-9]|1[0-5])-[A-Za-z0-9_-]{43}")


@dataclass(frozen=True)
class Bucket:
    number: int

    def _key(self, *parts: str) -> str:
        return ":".join((f"{{m{self.number}}}", *parts))

    @property
    def arrivals(self) -> str:
        """Counts tickets: a ticket's number is its place in the queue."""
        return self._key("arrivals")

    @property
    def due(self) -> str:
        """Pools with enough tickets and claims that are not settled, by the time (ms) at which to take them up."""
        return self._key("due")

    @property
    def channel(self) -> str:
        """The sharded channel that says of a pool that its queue changed, and which tickets did, by name: `pool
        ticket...`."""
        return self._key("wake")

    def ticket(self, name: str) -> str:
        """By the ticket's name, not its id, which is secret."""
        return self._key("ticket", name)

    def claim(self, claim_id: str) -> str:
        return self._key("claim", claim_id)

    def queue(self, pool_id: str) -> str:
        """The waiting tickets of a pool by arrival."""
        return self._key("queue", pool_id)

    def deadlines(self, pool_id: str) -> str:
        """The same tickets by the time (ms) at which they expire."""
        return self._key("deadlines", pool_id)

    def new_ticket_id(self) -> str:
        """With 256 random bits, in 43 characters."""
        return f"m{self.number}-{secrets.token_urlsafe(_SECRET_BYTES)}"


ALL_BUCKETS = tuple(Bucket(number) for number in range(BUCKETS))


def bucket_of_ticket(ticket_id: str) -> Bucket | None:
    """The bucket that a ticket's id carries; None if it is not the id of a ticket."""
    found = _TICKET_ID.fullmatch(ticket_id)
    return Bucket(int(found["bucket"])) if found else None


def name_of(ticket_id: str) -> str:
    """What a ticket is known by in the store and its logs."""
    return _digest(ticket_id)


def request_key(request_id: str) -> str:
    """Where the ticket of a request is kept: by the request alone, as the same id may come with other content."""
    return f"{{{_digest(request_id)}}}:request"


def new_claim_id() -> str:
    """Unique, but no secret: it is for logs too."""
    return secrets.token_hex(16)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
