"""Newcomers: a request with a game's join token takes one seat, however often it is made."""

from __future__ import annotations

import secrets
from hmac import compare_digest

import msgspec

from roundtable.engine.v1 import engine_pb2
from roundtable.session.v1 import session_pb2
from roundtable.table.v1 import table_pb2
from services.runtime import failpoints
from services.runtime.errors import Reason, ServiceError
from services.session.engines import Engines
from services.session.keys import GameKeys, game_not_found
from services.session.moves import check_not_closed, entry_of, translate
from services.session.seats import SALT_BYTES, new_seats, seal, token, token_digest, unseal
from services.session.store import Arrival, Games, Meta, Step, encode_meta


class Joining:
    def __init__(self, games: Games, engines: Engines) -> None:
        self._games = games
        self._engines = engines

    async def join(self, game: GameKeys, join_token: str, request_id: str) -> session_pb2.JoinResponse:
        """The seat that a request gets, taken if it is not there yet.

        Raises:
            ServiceError: GAME_NOT_FOUND, JOIN_TOKEN_INVALID, GAME_OVER, or the rules' refusal. After STORE_UNAVAILABLE
                the seat may be taken; the same request tells.
        """
        while True:
            failpoints.step("join.asked")
            # The game first: whatever takes the seat after this look moves the game on.
            before = await self._games.load(game)
            if not compare_digest(token_digest(join_token), before.meta.join_token):
                raise ServiceError(
                    Reason.JOIN_TOKEN_INVALID, "this is not the join token of this game", field="join_token"
                )
            arrival = await self._games.arrival(game, request_id)
            if arrival is not None:
                return await self._seat(game, arrival, request_id)
            check_not_closed(before.meta)
            try:
                resolved = await self._engines.resolve(
                    engine_pb2.ResolveRequest(state=before.state, join=engine_pb2.Join())
                )
            except ServiceError as refusal:
                raise translate(refusal) from refusal
            failpoints.step("join.resolved")
            seat = resolved.inputs[0].seat
            if seat != before.meta.all_seats:
                raise ServiceError(Reason.INTERNAL, f"the rules seat a newcomer at {seat}, where another is or nobody")
            (secret,), salt = new_seats(1), secrets.token_bytes(SALT_BYTES)
            arrival = Arrival(seat, salt, seal([secret], request_id, salt))
            step = Step(
                seat,
                resolved,
                entry_of(resolved, before.meta.salt),
                {
                    "meta": encode_meta(_with_one_more(before.meta)),
                    b"t" + token_digest(token(secret)): seat,
                    **arrival.field(request_id),
                },
            )
            if await self._games.commit(game, before, step, None):
                failpoints.step("join.committed")
                return await self._seat(game, arrival, request_id)
            # Somebody else moved first; it is judged again by where the game stands then.

    async def _seat(self, game: GameKeys, arrival: Arrival, request_id: str) -> session_pb2.JoinResponse:
        birth = await self._games.birth(game)
        if birth is None:
            raise game_not_found()
        (secret,) = unseal(arrival.sealed, request_id, arrival.salt)
        return session_pb2.JoinResponse(
            seat=arrival.seat,
            seat_token=token(secret),
            commitment=table_pb2.Commitment.FromString(birth.commitment),
        )


def _with_one_more(meta: Meta) -> Meta:
    return msgspec.structs.replace(meta, joined=meta.joined + 1)
