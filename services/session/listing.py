"""A player's list of games, page by page, with how each stands."""

from __future__ import annotations

import asyncio
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple, Self

from google.protobuf.timestamp_pb2 import Timestamp

from roundtable.session.v1 import session_pb2
from services.runtime.errors import Reason, ServiceError
from services.runtime.store import Store
from services.session.keys import GameKeys, find_game, player_list
from services.session.players import GOES_ON
from services.session.views import Views

PAGE_DEFAULT = 20
PAGE_MAX = 50

_NO_KEY, _FOR_EVER = -2, -1
"""Instead of a time to live."""


class _Listed(NamedTuple):
    """A game in a player's list; sorts as the list does, backwards."""

    rank: int
    member: bytes

    @classmethod
    def of(cls, member: bytes, rank: bytes) -> Self:
        return cls(int(float(rank)), member)

    @property
    def game(self) -> GameKeys:
        return find_game(self.member.split()[0].decode())

    @property
    def seat(self) -> int:
        return int(self.member.split()[1])

    @property
    def name(self) -> str:
        return self.member.split()[2].decode()

    @property
    def goes_on(self) -> bool:
        return self.rank >= GOES_ON


class Listing:
    def __init__(self, store: Store, views: Views) -> None:
        self._store = store
        self._views = views

    async def page(self, player_id: str, size: int, after: str) -> session_pb2.ListGamesResponse:
        """A page of a player's games: those that go on before those that are over, the newest first.

        Args:
            size: most games.
            after: the page before, as it named the next; empty for the first.

        Raises:
            ServiceError: FIELD_INVALID, for what was never a page; STORE_UNAVAILABLE, ENGINE_UNAVAILABLE.
        """
        key = player_list(player_id)
        found = await self._store.call("ZRANGE", key, 0, -1, "WITHSCORES")
        listed = [_Listed.of(member, rank) for member, rank in zip(found[::2], found[1::2], strict=True)]
        if after:
            place = _decode_page(after)
            listed = [each for each in listed if each < place]
        else:
            # Only here, as later pages would show again what is ranked behind.
            listed = await self._ranked(key, listed)
        listed.sort(reverse=True)
        games: list[session_pb2.PlayerGame] = []
        while listed and len(games) < size:
            some, listed = listed[: size - len(games)], listed[size - len(games) :]
            games += [game for game in await asyncio.gather(*map(self._told, some)) if game is not None]
            last = some[-1]
        return session_pb2.ListGamesResponse(games=games, next_page_token=_encode_page(last) if listed else "")

    async def _ranked(self, key: str, listed: Sequence[_Listed]) -> list[_Listed]:
        """A list without games that are gone, and with those that are over ranked so."""
        times = await asyncio.gather(*(self._store.call("TTL", each.game.game) for each in listed))
        ranked = []
        for each, seconds in zip(listed, times, strict=True):
            if seconds == _NO_KEY:
                await self._store.call("ZREM", key, each.member)
                continue
            if seconds != _FOR_EVER and each.goes_on:
                each = each._replace(rank=each.rank - GOES_ON)
                await self._store.call("ZADD", key, "XX", each.rank, each.member)
            ranked.append(each)
        return ranked

    async def _told(self, listed: _Listed) -> session_pb2.PlayerGame | None:
        """None if the game is gone."""
        try:
            game = await self._views.games.load(listed.game)
        except ServiceError as error:
            if error.reason is not Reason.GAME_NOT_FOUND:
                raise
            return None
        told = session_pb2.PlayerGame(
            game_id=listed.game.id, game=listed.name, seat=listed.seat, version=game.version, created_at=Timestamp()
        )
        told.created_at.FromMilliseconds(listed.rank % GOES_ON)
        if game.meta.closed:
            told.state = session_pb2.GAME_STATE_CLOSED
            return told
        try:
            update = (await self._views.view(game)).update
        except ServiceError as error:
            if error.reason not in (Reason.RULES_VERSION, Reason.INTERNAL):
                raise
            # One broken game must not hide the others.
            told.state = session_pb2.GAME_STATE_UNREADABLE
            return told
        if update.HasField("outcome"):
            told.state = session_pb2.GAME_STATE_FINISHED
            told.outcome.CopyFrom(update.outcome)
        else:
            told.state = session_pb2.GAME_STATE_OPEN
            told.asked.extend(update.asked)
        return told


def _encode_page(last: _Listed) -> str:
    place = b"%d %s" % (last.rank, last.member)
    return urlsafe_b64encode(place + _check(place)).rstrip(b"=").decode()


def _decode_page(text: str) -> _Listed:
    try:
        packed = urlsafe_b64decode(text + "==")
    except (Base64Error, ValueError):
        packed = b""
    rank, _, member = packed[:-_CHECK_BYTES].partition(b" ")
    if not member or _check(packed[:-_CHECK_BYTES]) != packed[-_CHECK_BYTES:]:
        raise ServiceError(Reason.FIELD_INVALID, "this is not the token of a page", field="page_token")
    return _Listed(int(rank), member)


_CHECK_BYTES = 3


def _check(place: bytes) -> bytes:
    return blake2b(place, digest_size=_CHECK_BYTES, person=b"page").digest()
