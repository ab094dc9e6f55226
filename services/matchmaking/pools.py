"""What tickets wait for: tickets that want the same game in the same way share a pool."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property

from services.matchmaking.keys import BUCKETS, Bucket

_ID_BYTES = 16


@dataclass(frozen=True)
class Pool:
    """One queue of tickets.

    `options` has a value for every option of the game, so that leaving one out and naming its default are the
    same wish.
    """

    game: str
    seats: int
    options: tuple[tuple[str, str], ...]
    seed: int | None

    @cached_property
    def encoded(self) -> str:
        """Equal pools, and no others, are encoded alike."""
        return json.dumps([self.game, self.seats, self.options, self.seed], separators=(",", ":"))

    @classmethod
    def decode(cls, encoded: str | bytes) -> "Pool":
        game, seats, options, seed = json.loads(encoded)
        return cls(game, seats, tuple((option, value) for option, value in options), seed)

    @cached_property
    def id(self) -> str:
        return hashlib.blake2b(self.encoded.encode(), digest_size=_ID_BYTES).hexdigest()

    @cached_property
    def bucket(self) -> Bucket:
        return Bucket(int(self.id[:8], 16) % BUCKETS)
