"""How games come to be: once for each request, however often it is made."""

from __future__ import annotations

import secrets
from hashlib import blake2b

import msgspec

from roundtable.engine.v1 import engine_pb2
from roundtable.session.v1 import session_pb2
from roundtable.table.v1 import table_pb2
from services.runtime import failpoints
from services.runtime.errors import ServiceError
from services.runtime.logging import get_logger
from services.session.cursors import mark_of
from services.session.engines import Engines
from services.session.keys import GameKeys, new_game
from services.session.moves import request_id_reused
from services.session.players import PlayerIndex
from services.session.seats import SALT_BYTES, new_seats, seal, token, token_digest, unseal
from services.session.store import Begun, Birth, Entry, Games, Meta, Seated, now_ms

_log = get_logger()


class Creation:
    def __init__(self, games: Games, index: PlayerIndex, engines: Engines) -> None:
        self._games = games
        self._player_index = index
        self._engines = engines

    async def create(self, request: session_pb2.CreateGameRequest) -> session_pb2.CreateGameResponse:
        """The game that a request asks for, made if it is not there yet.

        Raises:
            ServiceError: REQUEST_ID_REUSED, or the engine's refusal. After STORE_UNAVAILABLE the game may be there; the
                same request tells.
        """
        game, content = new_game(request.request_id), _content(request)
        failpoints.step("create.asked")
        birth = await self._games.birth(game) or await self._make(game, request, content)
        failpoints.step("create.stored")
        if birth.content != content:
            raise request_id_reused()
        if any(request.player_ids):
            await self._index(game)
        tokens = [token(secret) for secret in unseal(birth.sealed_seats, request.request_id, birth.salt)]
        return session_pb2.CreateGameResponse(
            game_id=game.id,
            seat_tokens=tokens[: request.seats],
            join_token="".join(tokens[request.seats :]),
            commitment=table_pb2.Commitment.FromString(birth.commitment),
        )

    async def _index(self, game: GameKeys) -> None:
        try:
            await self._player_index.index(game)
        except ServiceError as error:
            # It is due, and the game is there.
            _log.warning("game not indexed yet", game_id=game.id, reason=error.reason)
        failpoints.step("create.indexed")

    async def _make(self, game: GameKeys, request: session_pb2.CreateGameRequest, content: bytes) -> Birth:
        made = await self._engines.new_game(
            engine_pb2.NewGameRequest(
                game=request.game,
                seats=request.seats,
                options=request.options,
                seed=request.seed if request.HasField("seed") else None,
            )
        )
        failpoints.step("create.made")
        sealed, salt = new_seats(request.seats + request.joinable), secrets.token_bytes(SALT_BYTES)
        seats, join = sealed[: request.seats], sealed[request.seats :]
        return await self._games.create(
            game,
            Meta(
                request.seats,
                request.spectators,
                salt,
                silent=request.silent,
                join_token=token_digest(token(join[0])) if join else b"",
            ),
            Birth(content, salt, seal(sealed, request.request_id, salt), made.commitment.SerializeToString()),
            [token_digest(token(seat)) for seat in seats],
            Begun(made.resolved.state, made.origin),
            # A place for cursors only: whoever watches has the set-up in a snapshot.
            Entry(mark_of(made.resolved.digest, salt), now_ms(), False, b"", {}),
            Seated(request.game, now_ms(), list(request.player_ids)) if any(request.player_ids) else None,
        )


def _content(request: session_pb2.CreateGameRequest) -> bytes:
    """Digest of everything that is asked for."""
    seed = request.seed if request.HasField("seed") else None
    asked = (
        request.game,
        request.seats,
        sorted(request.options.items()),
        seed,
        request.spectators,
        request.silent,
        request.joinable,
    )
    content = (asked, *request.player_ids) if any(request.player_ids) else asked
    return blake2b(msgspec.msgpack.encode(content), digest_size=16, person=b"new game").digest()
