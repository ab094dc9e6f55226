"""Chance that anyone can check afterwards and nobody can choose beforehand.

The algorithm, to the last detail, so that it can be written again in any language:

1. The server draws a 32-byte secret and publishes its commitment, `BLAKE2b-256(secret)`.
2. Seats may then add contributions of up to 32 bytes each.
3. The table's key is `BLAKE2b-256` keyed with the secret, personalised `roundtable-key`, over the contributions in
   seat order, each preceded by its length as one byte.
4. Block `n` (from 0) is `BLAKE2b-512` keyed with the table's key over `n` as 8 bytes, little-endian; its 64 bytes are
   16 words of 32 bits, little-endian. Words are used in order, each once.
5. A number below `n` (1 to 2**32) is `word mod n` of the next word smaller than the largest multiple of `n` that is at
   most 2**32; larger words are skipped. Below 1 uses no word.
6. A shuffle goes from the last place down to the second: place `i` (from 0) swaps with the place below `i + 1`.
7. When the game ends the secret is revealed.
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from hashlib import blake2b
from struct import Struct as Layout
from typing import Any

import msgspec

SECRET_BYTES = 32
CONTRIBUTION_BYTES_MAX = 32
WORDS_PER_BLOCK = 16
WORD_VALUES = 1 << 32

_words = Layout("<16I").unpack


class Seed(msgspec.Struct, frozen=True, array_like=True):
    """Where a table's chance comes from. Secret until the game ends."""

    secret: bytes
    contributions: tuple[bytes, ...] = ()
    verifiable: bool = True
    """False for fixed seeds and for games that begin from a position: their deal could have been chosen."""

    @classmethod
    def fixed(cls, number: int) -> Seed:
        """The seed of development and tests: the same number, the same game."""
        secret = blake2b(b"%d" % number, digest_size=SECRET_BYTES, person=b"roundtable-fixed").digest()
        return cls(secret, verifiable=False)

    def commitment(self) -> bytes:
        """What is published before the seats contribute: 32 bytes."""
        return blake2b(self.secret, digest_size=32).digest()

    def key(self) -> bytes:
        hasher = blake2b(key=self.secret, digest_size=32, person=b"roundtable-key")
        self._add_contributions(hasher)
        return hasher.digest()

    def history_key(self) -> bytes:
        """Keys the digest chain, so that nobody can guess a secret answer from its digest."""
        hasher = blake2b(self.secret, digest_size=32, person=b"roundtable-past")
        self._add_contributions(hasher)
        return hasher.digest()

    def _add_contributions(self, hasher: blake2b) -> None:
        for contribution in self.contributions:
            hasher.update(bytes((len(contribution),)) + contribution)


class Chance:
    """The table's only source of random numbers. Its place is the number of words used."""

    __slots__ = ("_block", "_block_number", "_key", "_seed", "used")

    def __init__(self, seed: Seed, used: int = 0) -> None:
        self._seed = seed
        self._key: bytes | None = None
        self._block: tuple[int, ...] = ()
        self._block_number = -1
        self.used = used

    def _word(self) -> int:
        number, place = divmod(self.used, WORDS_PER_BLOCK)
        if number != self._block_number:
            if self._key is None:
                self._key = self._seed.key()
            self._block = _words(blake2b(number.to_bytes(8, "little"), key=self._key).digest())
            self._block_number = number
        self.used += 1
        return self._block[place]

    def below(self, bound: int) -> int:
        """A number from 0 to `bound - 1`, each equally likely."""
        if bound == 1:
            return 0
        limit = WORD_VALUES - WORD_VALUES % bound
        while (word := self._word()) >= limit:
            pass
        return word % bound

    def die(self, sides: int) -> int:
        """A roll from 1 to `sides`."""
        return self.below(sides) + 1

    def shuffle(self, items: MutableSequence[Any]) -> None:
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def choice(self, items: Sequence[Any]) -> Any:
        return items[self.below(len(items))]
