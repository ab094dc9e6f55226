"""Cursors: a place in a feed, as clients carry it."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from hashlib import blake2b
from typing import NamedTuple

from services.runtime.errors import Reason, ServiceError

MARK_BYTES = 8
_POSITION_BYTES = 5
_CHECK_BYTES = 3


class Cursor(NamedTuple):
    """A place in the feed of a game."""

    position: int
    """Number of the entry before the place, counted from 1."""
    mark: bytes
    """Digest of the game's history up to there: tells places of the same position in different futures apart."""


def mark_of(digest: bytes, salt: bytes) -> bytes:
    """The mark of a history.

    Args:
        digest: of the history, from the engine.
        salt: of the game; even the beginnings of two games differ.
    """
    return blake2b(digest, key=salt, digest_size=MARK_BYTES).digest()


def encode_cursor(game_id: str, cursor: Cursor) -> str:
    place = cursor.position.to_bytes(_POSITION_BYTES, "big") + cursor.mark
    return urlsafe_b64encode(place + _check(game_id, place)).rstrip(b"=").decode()


def decode_cursor(game_id: str, text: str) -> Cursor:
    """
    Raises:
        ServiceError: CURSOR_INVALID, for what was never a cursor of this game.
    """
    try:
        packed = urlsafe_b64decode(text + "==")
    except (Base64Error, ValueError):
        packed = b""
    cursor = Cursor(int.from_bytes(packed[:_POSITION_BYTES], "big"), packed[_POSITION_BYTES:-_CHECK_BYTES])
    if len(cursor.mark) != MARK_BYTES or encode_cursor(game_id, cursor) != text:
        raise ServiceError(Reason.CURSOR_INVALID, "this is not a cursor of this game", field="after")
    return cursor


def cursor_unknown() -> ServiceError:
    return ServiceError(
        Reason.CURSOR_UNKNOWN, "the store does not know this place in the feed; watch without a cursor", field="after"
    )


def _check(game_id: str, place: bytes) -> bytes:
    return blake2b(place + game_id.encode(), digest_size=_CHECK_BYTES, person=b"cursor").digest()
