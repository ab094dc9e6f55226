"""The feed of a game: each step once and in order, as the store keeps it."""

from __future__ import annotations

from dataclasses import dataclass

from google.protobuf.timestamp_pb2 import Timestamp

from roundtable.session.v1 import session_pb2
from services.session import wire
from services.session.cursors import Cursor, cursor_unknown, encode_cursor
from services.session.keys import GameKeys
from services.session.store import Entry, Games


class FeedGap(Exception):
    """Entries after the place are no longer kept."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry at its place in the feed, ready to be sent."""

    cursor: Cursor
    last: bool
    _entry: Entry
    _head: bytes

    @classmethod
    def at(cls, game: GameKeys, position: int, entry: Entry) -> Placed:
        cursor = Cursor(position, entry.mark)
        at = Timestamp()
        at.FromMilliseconds(entry.at_ms)
        head = session_pb2.WatchResponse(cursor=encode_cursor(game.id, cursor), at=at)
        return cls(cursor, entry.last, entry, head.SerializeToString())

    def response(self, seat: int | None) -> bytes | None:
        """The `WatchResponse` for a seat or a spectator, encoded; None if the entry tells it nothing."""
        form = self._entry.form(seat)
        return None if form is None else self._head + wire.field(session_pb2.WatchResponse, self._entry.kind, form)


async def read_from(games: Games, game: GameKeys, cursor: Cursor) -> list[Placed]:
    """The entry before a place, and those after it.

    Raises:
        FeedGap: the feed begins later.
        ServiceError: CURSOR_UNKNOWN, if the store never had the place, or has it no longer because it lost its last
            changes; STORE_UNAVAILABLE.
    """
    found = await games.feed(game, cursor.position)
    if found and found[0][0] > cursor.position:
        raise FeedGap
    if not found or found[0][1].mark != cursor.mark:
        raise cursor_unknown()
    return [Placed.at(game, position, entry) for position, entry in found]
