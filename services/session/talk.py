"""Table talk: what seats say, from the closed list of their game, as entries of the feed. It is no move."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from roundtable.engine.v1 import engine_pb2
from roundtable.session.v1 import session_pb2
from roundtable.table.v1 import table_pb2
from services.runtime import failpoints
from services.runtime.errors import Reason, ServiceError
from services.runtime.store import Store
from services.session.cursors import MARK_BYTES
from services.session.engines import Engines
from services.session.keys import GameKeys
from services.session.moves import (
    check_not_closed,
    check_plays,
    request_id_reused,
    seat_token_invalid,
    translate,
)
from services.session.requests import Request
from services.session.store import Entry, Game, Games, encode_entry, now_ms, show, telling

IN_A_TURN = 8
"""Declarations of one seat in one turn of the game, all different."""
EACH_MS = 5_000
AT_ONCE = 4
"""A seat can say so many at once, and one more each time `EACH_MS` have passed."""


class Talk:
    def __init__(self, store: Store, games: Games, engines: Engines, *, feed_entries: int) -> None:
        """
        Args:
            feed_entries: how many entries a feed keeps.
        """
        self._store = store
        self._games = games
        self._engines = engines
        self._feed_entries = feed_entries

    async def offered(self, look: Game) -> Sequence[table_pb2.Declaration]:
        """What who looks may say now.

        Raises:
            ServiceError: GAME_OVER, RULES_VERSION, ENGINE_UNAVAILABLE.
        """
        check_not_closed(look.meta)
        if look.seat is None or look.meta.silent or look.seat in look.meta.left:
            return ()
        return (await self._list(look.state, look.seat)).declarations

    async def say(self, game: GameKeys, request: Request, declaration_id: str) -> None:
        """Says something for the seat that asks, unless it was said by the same request before.

        Raises:
            ServiceError: GAME_NOT_FOUND, SEAT_TOKEN_INVALID, REQUEST_ID_REUSED, GAME_OVER, TALK_OFF, SEAT_LEFT,
                UNKNOWN_DECLARATION, SAID_ALREADY, SAID_ENOUGH, TALKING_TOO_FAST, RULES_VERSION. After
                STORE_UNAVAILABLE it may have been said; the same request tells.
        """
        while True:
            failpoints.step("say.asked")
            before = await self._games.load(game, request.token, request)
            if before.seat is None:
                raise seat_token_invalid()
            if before.earlier is not None:
                if before.earlier.fingerprint != request.fingerprint:
                    raise request_id_reused()
                return
            check_plays(before.meta, before.seat)
            if before.meta.silent:
                raise ServiceError(Reason.TALK_OFF, "nobody can say anything in this game")
            listed = await self._list(before.state, before.seat)
            declaration = next((each for each in listed.declarations if each.id == declaration_id), None)
            if declaration is None:
                raise ServiceError(Reason.UNKNOWN_DECLARATION, "the seat cannot say this now", field="declaration_id")
            failpoints.step("say.judged")
            if await self._put(game, before, before.seat, request, declaration, listed.turn):
                failpoints.step("say.said")
                return
            # Something else came into the feed first: it is judged again by where the game stands then.

    async def _list(self, state: bytes, seat: int) -> engine_pb2.ListDeclarationsResponse:
        try:
            return await self._engines.declarations(engine_pb2.ListDeclarationsRequest(state=state, seat=seat))
        except ServiceError as refusal:
            raise translate(refusal) from refusal

    async def _put(
        self,
        game: GameKeys,
        before: Game,
        seat: int,
        request: Request,
        declaration: table_pb2.Declaration,
        turn: int,
    ) -> bool:
        """False if the feed has grown since `before`."""
        said = session_pb2.Said(seat=seat, declaration=declaration).SerializeToString()
        # The history stays as it is, so that the place gets a mark of its own.
        entry = Entry(secrets.token_bytes(MARK_BYTES), now_ms(), False, said, {}, "said")
        came = await self._store.run(
            _SAY,
            [game.game, game.feed, game.wake, game.due],
            [
                before.cursor.position,
                seat,
                request.fingerprint,
                declaration.id,
                turn,
                encode_entry(entry),
                entry.mark,
                self._feed_entries,
                game.id,
                IN_A_TURN,
                EACH_MS,
                AT_ONCE,
            ],
            confirmed=True,
        )
        match came:
            case None:
                return False
            case [b"said"]:
                await show(self._store, game)
                return True
            case [b"over"]:
                raise ServiceError(Reason.GAME_OVER, "the game is over")
            case [b"already"]:
                raise ServiceError(Reason.SAID_ALREADY, "the seat has said this in this turn", field="declaration_id")
            case [b"enough"]:
                raise ServiceError(Reason.SAID_ENOUGH, f"the seat has said {IN_A_TURN} things in this turn")
            case [b"fast", wait_ms]:
                raise ServiceError(Reason.TALKING_TOO_FAST, "the seat talks too fast", retry_after=wait_ms / 1000)
            case _:
                raise AssertionError(came)


_SAY = telling("say")
