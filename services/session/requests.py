"""Requests that were answered are known again by a fingerprint of a few bytes, for the life of their game.

A table has one fingerprint for each input, in their order, so that the place of a fingerprint is the version that the
request made. The first bytes stand for who asked and the request id, the others for the content.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import msgspec

from services.session.seats import token_digest

# A request is taken for another of 800 once in 1.4 billion calls, and is then refused; the natural key of a move, its
# decision and seat, keeps it from being taken twice. Reuse of an id for another content is missed once in 17 million.
REQUEST_BYTES = 5
CONTENT_BYTES = 3
FINGERPRINT_BYTES = REQUEST_BYTES + CONTENT_BYTES
NO_REQUEST = bytes(FINGERPRINT_BYTES)
"""Stands for an input that no request asked for."""

_encode = msgspec.msgpack.encode


@dataclass(frozen=True, slots=True)
class Request:
    """A request of a seat, as the store knows it."""

    token: bytes
    """Digest of the seat's token."""
    id: bytes
    content: bytes

    @property
    def fingerprint(self) -> bytes:
        return self.id + self.content


def request_of(seat_token: str, request_id: str, content: tuple[object, ...]) -> Request:
    """
    Args:
        content: everything the seat asks for besides itself and the request id, as plain values.
    """
    token = token_digest(seat_token)
    return Request(
        token,
        blake2b(request_id.encode(), key=token, digest_size=REQUEST_BYTES, person=b"request").digest(),
        blake2b(_encode(content), key=token, digest_size=CONTENT_BYTES, person=b"content").digest(),
    )
