"""Records: what was played, whole once a game is over, and until then a seat's own part of it."""

from __future__ import annotations

from collections.abc import Sequence

from roundtable.engine.v1 import engine_pb2
from roundtable.table.v1 import table_pb2
from services.runtime.errors import Reason, ServiceError
from services.session.cursors import mark_of
from services.session.engines import Engines
from services.session.keys import GameKeys, game_not_found
from services.session.log import decode_log
from services.session.moves import translate
from services.session.store import Game, Games


class Records:
    def __init__(self, games: Games, engines: Engines) -> None:
        self._games = games
        self._engines = engines

    async def record(self, game: GameKeys, look: Game) -> table_pb2.Record:
        """
        Args:
            look: the game, as whoever asks may look at it.

        Raises:
            ServiceError: GAME_NOT_FOUND, GAME_NOT_OVER, RULES_VERSION, LOG_BROKEN.
        """
        # The end first: a game that has it gets no more inputs.
        end = await self._games.last_entry(game)
        found = await self._games.origin(game)
        if end is None or found is None:
            raise game_not_found()
        birth, origin = found
        # While it goes on, later inputs may still be lost.
        entries = await self._games.log(game, None if end.last else look.version)
        log = decode_log(entries)
        if not end.last:
            return _own_part(game, look, birth.commitment, log)
        try:
            replayed = await self._engines.replay(engine_pb2.ReplayRequest(origin=origin, inputs=log))
        except ServiceError as refusal:
            raise translate(refusal) from refusal
        if end.kind == "update" and mark_of(replayed.resolved.digest, look.meta.salt) != end.mark:
            raise ServiceError(Reason.LOG_BROKEN, "the log is of another game", metadata={"version": str(len(log))})
        look = await self._games.load(game)
        return whole_record(game, replayed, log, look.meta.closed)


def whole_record(
    game: GameKeys, replayed: engine_pb2.ReplayResponse, log: Sequence[engine_pb2.LoggedInput], closed: str
) -> table_pb2.Record:
    """The record of a game that was played again, with its secret."""
    public = replayed.resolved.public
    return table_pb2.Record(
        game_id=game.id,
        game=replayed.game,
        rules_version=replayed.rules_version,
        seats=replayed.seats,
        options=replayed.options,
        commitment=replayed.commitment,
        reveal=replayed.reveal,
        inputs=[
            _recorded(version, logged, digest)
            for version, (logged, digest) in enumerate(zip(log, replayed.digests, strict=True), 1)
        ],
        outcome=public.outcome if public.HasField("outcome") else None,
        closed=closed,
        version=len(log),
    )


def _own_part(game: GameKeys, look: Game, commitment: bytes, log: Sequence[engine_pb2.LoggedInput]) -> table_pb2.Record:
    if look.seat is None:
        raise ServiceError(Reason.GAME_NOT_OVER, "the record is for everybody once the game is over")
    return table_pb2.Record(
        game_id=game.id,
        seats=look.meta.seats,
        commitment=table_pb2.Commitment.FromString(commitment),
        inputs=[_recorded(version, logged) for version, logged in enumerate(log, 1) if logged.seat == look.seat],
        version=len(log),
    )


def _recorded(version: int, logged: engine_pb2.LoggedInput, digest: bytes = b"") -> table_pb2.RecordedInput:
    return table_pb2.RecordedInput(
        version=version,
        # The same values in both contracts.
        kind=table_pb2.InputKind.ValueType(logged.kind),
        seat=logged.seat,
        decision=logged.decision,
        picks=logged.picks,
        orders=logged.orders,
        digest=digest,
    )
