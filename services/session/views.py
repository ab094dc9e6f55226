"""Who may look at a game, and what there is to be seen."""

from __future__ import annotations

from roundtable.engine.v1 import engine_pb2
from services.runtime.errors import Reason, ServiceError
from services.session.engines import Engines
from services.session.keys import GameKeys
from services.session.moves import check_plays, seat_token_invalid, translate
from services.session.seats import token_digest
from services.session.store import Game, Games


class Views:
    def __init__(self, games: Games, engines: Engines) -> None:
        self.games = games
        self._engines = engines

    async def look(self, game: GameKeys, seat_token: str | None) -> Game:
        """A game, as the holder of a seat's token or, without one, as a spectator.

        Raises:
            ServiceError: GAME_NOT_FOUND, SEAT_TOKEN_INVALID, SPECTATORS_NOT_ALLOWED, STORE_UNAVAILABLE.
        """
        if seat_token is None:
            found = await self.games.load(game)
            if not found.meta.spectators:
                raise ServiceError(Reason.SPECTATORS_NOT_ALLOWED, "this game is only for its seats", field="seat_token")
            return found
        found = await self.games.load(game, token_digest(seat_token))
        if found.seat is None:
            raise seat_token_invalid()
        return found

    async def view(self, game: Game) -> engine_pb2.ViewResponse:
        """What who looks may know.

        Raises:
            ServiceError: RULES_VERSION, ENGINE_UNAVAILABLE.
        """
        try:
            return await self._engines.view(engine_pb2.ViewRequest(state=game.state, seat=game.seat))
        except ServiceError as refusal:
            raise translate(refusal) from refusal

    async def explain(self, game: Game, candidate: str) -> engine_pb2.ExplainResponse:
        """Why the seat that looks is, or is not, offered something.

        Raises:
            ServiceError: GAME_OVER, SEAT_LEFT, NOT_ASKED, UNKNOWN_OPTION, RULES_VERSION, ENGINE_UNAVAILABLE.
        """
        assert game.seat is not None, "who looks without a token asks for no explanation"
        check_plays(game.meta, game.seat)
        try:
            return await self._engines.explain(
                engine_pb2.ExplainRequest(state=game.state, seat=game.seat, candidate=candidate)
            )
        except ServiceError as refusal:
            raise translate(refusal) from refusal
