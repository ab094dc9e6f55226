"""Secrets that the store hands out again without holding them open.

A ticket's id is its holder's secret, and so is the seat it gets. The store knows a ticket by a digest of its id, and
keeps its seat closed with a key derived from the id. Whoever makes a match, also after a crash, has nothing but the
store: so the key lies beside the ticket until it is claimed, then in the claim, and is forgotten with the claim. What
the game is created under, with which its tokens could be had again, is derived from the keys and never stored. A copy
of the store holds no seat of a match that is made, and of waiting tickets only keys to what is not there yet.

The id of a ticket is closed in the same way for whoever repeats the request that made it.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

KEY_BYTES = 32
SALT_BYTES = 16
_BLOCK_BYTES = 64


def seat_key(ticket_id: str) -> bytes:
    """What the seat of a ticket is closed with."""
    return blake2b(ticket_id.encode(), digest_size=KEY_BYTES, person=b"ticket seat").digest()


def request_key(request_id: str) -> bytes:
    """What the id of the ticket that a request made is closed with."""
    return blake2b(request_id.encode(), digest_size=KEY_BYTES, person=b"ticket request").digest()


def game_request_id(claim_id: str, seat_keys: Sequence[bytes]) -> str:
    """What the game of a claim is created under, by whoever gets to it: 64 characters."""
    return blake2b(b"".join((claim_id.encode(), *seat_keys)), digest_size=32, person=b"match request").hexdigest()


def cross(text: bytes, key: bytes, salt: bytes) -> bytes:
    """Closes what is open, and opens what is closed.

    Args:
        salt: of 16 bytes; never the same for two texts under one key.
    """
    blocks = range(-(-len(text) // _BLOCK_BYTES))
    pad = b"".join(blake2b(block.to_bytes(4, "big"), key=key, salt=salt).digest() for block in blocks)
    return bytes(one ^ other for one, other in zip(text, pad, strict=False))
