"""Seat tokens: who holds one is the seat.

A token is 256 bits from the operating system's generator, and the store keeps its digest, which is enough to check it.
Yet a repeated CreateGame must hand out the same tokens again. Of the ways to do that, deriving the tokens from the
request id would make them as guessable as callers make their request ids, and guesses could be tried without asking
us; keeping them in clear would hand every seat to whoever reads the store or a copy of it. So the store keeps them
sealed with a key that is derived from the request id, which it does not know: a reader of the store needs the request
id, and a guesser of request ids needs the store, or has to repeat the call with the same content.
"""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from hashlib import blake2b

_TOKEN_BYTES = 32
SALT_BYTES = 16


def new_seats(seats: int) -> list[bytes]:
    """The secrets behind the tokens of this many seats."""
    return [secrets.token_bytes(_TOKEN_BYTES) for _ in range(seats)]


def token(secret: bytes) -> str:
    """The token that the seat's holder shows: 43 characters."""
    return urlsafe_b64encode(secret).rstrip(b"=").decode()


def token_digest(text: str) -> bytes:
    """What a token is known by in the store: 16 bytes."""
    return blake2b(text.encode(), digest_size=16, person=b"seat token").digest()


def seal(seats: Sequence[bytes], request_id: str, salt: bytes) -> bytes:
    """The secrets, closed with the request id.

    Args:
        salt: `SALT_BYTES` from the operating system's generator, used for this game only; never the same pad twice.
    """
    clear = b"".join(seats)
    return _xor(clear, _pad(len(seats), request_id, salt))


def unseal(sealed: bytes, request_id: str, salt: bytes) -> list[bytes]:
    clear = _xor(sealed, _pad(len(sealed) // _TOKEN_BYTES, request_id, salt))
    return [clear[start : start + _TOKEN_BYTES] for start in range(0, len(clear), _TOKEN_BYTES)]


def _pad(seats: int, request_id: str, salt: bytes) -> bytes:
    key = blake2b(request_id.encode(), salt=salt, person=b"seat seal").digest()
    return b"".join(blake2b(bytes([seat]), key=key, digest_size=_TOKEN_BYTES).digest() for seat in range(seats))


def _xor(one: bytes, other: bytes) -> bytes:
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).to_bytes(len(one), "big")
