"""Watches of clients: a snapshot or a continuation, then every entry of the feed, and heartbeats."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext

from google.protobuf.timestamp_pb2 import Timestamp

from roundtable.session.v1 import session_pb2
from services.runtime.errors import Reason, ServiceError
from services.session.cursors import Cursor, decode_cursor, encode_cursor
from services.session.feeds import FeedGap, read_from
from services.session.keys import GameKeys
from services.session.presence import Presence
from services.session.store import Game, Games
from services.session.tails import Tails
from services.session.views import Views

Send = Callable[[bytes], Awaitable[None]]


class Watches:
    def __init__(
        self,
        games: Games,
        views: Views,
        tails: Tails,
        presence: Presence,
        *,
        heartbeat_seconds: float,
        patience_seconds: float,
    ) -> None:
        """
        Args:
            heartbeat_seconds: longest silence in a feed.
            patience_seconds: how long a watcher may take for an entry before it is cut off.
        """
        self._games = games
        self._views = views
        self._tails = tails
        self._presence = presence
        self._heartbeat_seconds = heartbeat_seconds
        self._patience_seconds = patience_seconds

    async def watch(
        self, game: GameKeys, seat_token: str | None, after: str | None, write: Send, *, shown: bool = False
    ) -> None:
        """Writes the responses of a watch, encoded. Returns after the entry that is the last.

        Args:
            after: the cursor to go on from.
            shown: others are told that the seat is connected.

        Raises:
            ServiceError: as `Views.look` and `Views.view`; CURSOR_INVALID, CURSOR_UNKNOWN, WATCHER_TOO_SLOW.
        """

        async def send(response: bytes) -> None:
            try:
                async with asyncio.timeout(self._patience_seconds):
                    await write(response)
            except TimeoutError:
                raise ServiceError(
                    Reason.WATCHER_TOO_SLOW, "the watcher does not read; watch again after the last cursor"
                ) from None

        cursor = None if after is None else decode_cursor(game.id, after)
        look = await self._views.look(game, seat_token)
        seat = look.seat if shown and look.seat not in look.meta.left else None
        with nullcontext() if seat is None else self._presence.shown(game, seat):
            await self._watch(game, seat_token, look, cursor, send)

    async def _watch(
        self, game: GameKeys, seat_token: str | None, look: Game, cursor: Cursor | None, send: Send
    ) -> None:
        reason = session_pb2.SNAPSHOT_REASON_START
        if cursor is not None:
            try:
                entries = await read_from(self._games, game, cursor)
            except FeedGap:
                cursor, reason = None, session_pb2.SNAPSHOT_REASON_GAP
            else:
                for entry in entries[1:]:
                    if (response := entry.response(look.seat)) is not None:
                        await send(response)
                if entries[-1].last:
                    return
                cursor = entries[-1].cursor
        while True:
            if cursor is None:
                view = await self._views.view(look)
                cursor = look.cursor
                # Read after the place of the snapshot, so that what it misses is in the feed.
                present = await self._presence.of(game, look.meta.all_seats)
                snapshot = session_pb2.Snapshot(view=view.view, update=view.update, reason=reason, present=present)
                await send(_response(game, cursor, session_pb2.WatchResponse(snapshot=snapshot)))
                if look.meta.closed:
                    closed = session_pb2.Closed(reason=look.meta.closed)
                    await send(_response(game, cursor, session_pb2.WatchResponse(closed=closed)))
                    return
                if view.update.HasField("outcome"):
                    return
            try:
                await self._follow(game, look.seat, cursor, send)
                return
            except FeedGap:
                # Too slow for the feed: what the watcher has missed is in a new snapshot.
                look, cursor = await self._views.look(game, seat_token), None
                reason = session_pb2.SNAPSHOT_REASON_GAP

    async def _follow(self, game: GameKeys, seat: int | None, cursor: Cursor, send: Send) -> None:
        clock = asyncio.get_running_loop().time
        silent_until = clock() + self._heartbeat_seconds
        with self._tails.joined(game, cursor) as tail:
            while True:
                try:
                    async with asyncio.timeout_at(silent_until):
                        entries = await tail.after(cursor)
                except TimeoutError:
                    if not await self._tails.woken(game):
                        raise ServiceError(Reason.STORE_UNAVAILABLE, "the store does not tell what happens") from None
                    await send(_response(game, cursor, session_pb2.WatchResponse(heartbeat=session_pb2.Heartbeat())))
                    silent_until = clock() + self._heartbeat_seconds
                    continue
                for entry in entries:
                    if (response := entry.response(seat)) is not None:
                        await send(response)
                        silent_until = clock() + self._heartbeat_seconds
                    if entry.last:
                        return
                    cursor = entry.cursor


def _response(game: GameKeys, cursor: Cursor, response: session_pb2.WatchResponse) -> bytes:
    response.cursor = encode_cursor(game.id, cursor)
    at = Timestamp()
    at.GetCurrentTime()
    response.at.CopyFrom(at)
    return response.SerializeToString()
