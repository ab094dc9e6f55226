"""What seats do: each request changes its game once, however often it is made."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from roundtable.engine.v1 import engine_pb2
from services.runtime import failpoints
from services.runtime.errors import Reason, ServiceError
from services.session.cursors import mark_of
from services.session.engines import Engines
from services.session.keys import GameKeys
from services.session.log import what_came_of
from services.session.requests import Request
from services.session.store import Entry, Games, Meta, Step, encode_meta, now_ms, without

MakeInput = Callable[[bytes, int], engine_pb2.ResolveRequest]
"""The engine's request to give a table, as its state, an input of a seat."""


class Moves:
    def __init__(self, games: Games, engines: Engines) -> None:
        self._games = games
        self._engines = engines

    async def make(self, game: GameKeys, request: Request, make_input: MakeInput, *, leaving: bool = False) -> bytes:
        """Carries out a request of a seat, unless it was carried out before, and gives the step in the form that the
        seat may see, as an encoded `Update`: each time the same.

        Args:
            leaving: it is the last one of this seat.

        Raises:
            ServiceError: GAME_NOT_FOUND, SEAT_TOKEN_INVALID, SEAT_LEFT, REQUEST_ID_REUSED, ALREADY_APPLIED, or the
                rules' refusal. After STORE_UNAVAILABLE it may have been carried out; the same request tells.
        """
        while True:
            failpoints.step("move.asked")
            before = await self._games.load(game, request.token, request)
            if before.seat is None:
                raise seat_token_invalid()
            if before.earlier is not None:
                if before.earlier.fingerprint != request.fingerprint:
                    raise request_id_reused()
                if before.earlier.update is None:
                    raise ServiceError(
                        Reason.ALREADY_APPLIED,
                        "the request was carried out, and the seat has moved on since",
                        metadata={"version": str(before.earlier.version)},
                    )
                return before.earlier.update
            check_plays(before.meta, before.seat)
            failpoints.step("move.loaded")
            asked = make_input(before.state, before.seat)
            try:
                resolved = await self._engines.resolve(asked)
            except ServiceError as refusal:
                raise await self._told(refusal, game, asked.answer, before.version) from refusal
            step = Step(
                before.seat,
                resolved,
                entry_of(resolved, before.meta.salt),
                {"meta": encode_meta(without(before.meta, before.seat))} if leaving else {},
            )
            failpoints.step("move.resolved")
            if await self._games.commit(game, before, step, request):
                failpoints.step("move.committed")
                return step.answer
            # Somebody else moved first; the request is judged again by where the game stands then.

    async def _told(
        self, refusal: ServiceError, game: GameKeys, refused: engine_pb2.Answer, version: int
    ) -> ServiceError:
        """A refusal of the engine in the terms of the seat's request.

        Args:
            version: where the request was refused.
        """
        told = translate(refusal)
        if told.reason is Reason.DECISION_CLOSED:
            answered = what_came_of(await self._games.answers(game, refused.decision, version), refused.seat)
            if answered is not None:
                told.metadata |= {"version": str(answered.version), "outcome": answered.outcome}
                if answered.picks:
                    told.metadata["picks"] = ",".join(map(str, answered.picks))
        return told


def translate(refusal: ServiceError) -> ServiceError:
    """A refusal of the engine as one of ours: a table that the engine cannot read is our fault, and its fields for seat
    and decision are not fields of our callers by these names."""
    if refusal.reason is Reason.STATE_GARBLED:
        return ServiceError(
            Reason.TABLE_BROKEN, "the game's table cannot be read: an operator may rebuild it from its log"
        )
    match refusal.metadata.pop("field", None):
        case None | "seat" | "state":
            field = None
        case "decision":
            field = "decision_id"
        case other:
            field = other
    return ServiceError(
        refusal.reason,
        refusal.message,
        field=field,
        metadata=refusal.metadata,
        retry_after=refusal.retry_after,
    )


def seat_token_invalid() -> ServiceError:
    return ServiceError(Reason.SEAT_TOKEN_INVALID, "this is not the token of a seat of this game", field="seat_token")


def check_plays(meta: Meta, seat: int) -> None:
    """
    Raises:
        ServiceError: GAME_OVER, if the game was closed; SEAT_LEFT.
    """
    check_not_closed(meta)
    if seat in meta.left:
        raise ServiceError(Reason.SEAT_LEFT, "this seat has left the game, and can only watch", field="seat_token")


def check_not_closed(meta: Meta) -> None:
    """
    Raises:
        ServiceError: GAME_OVER, if the game was closed.
    """
    if meta.closed:
        raise ServiceError(Reason.GAME_OVER, f"the game was closed: {meta.closed}")


def request_id_reused() -> ServiceError:
    return ServiceError(
        Reason.REQUEST_ID_REUSED, "the request id was used for another content before", field="request_id"
    )


def entry_of(resolved: engine_pb2.Resolved, salt: bytes) -> Entry:
    """A step, as the feed keeps it.

    Args:
        salt: of the game.
    """
    public = resolved.public.SerializeToString()
    forms = {seat: update.SerializeToString() for seat, update in resolved.seats.items()}
    made = Entry(
        mark_of(resolved.digest, salt),
        now_ms(),
        resolved.public.HasField("outcome"),
        public,
        {seat: form for seat, form in forms.items() if form != public},
    )
    owner = _only_told(resolved)
    return made if owner is None else msgspec.structs.replace(made, public=b"", seats={owner: forms[owner]}, only=owner)


def _only_told(resolved: engine_pb2.Resolved) -> int | None:
    """The seat that changed its standing orders, if nothing else came of the step: that it did so is its secret too."""
    if len(resolved.inputs) != 1 or resolved.public.events:
        return None
    (made,) = resolved.inputs
    return made.seat if made.kind == engine_pb2.INPUT_KIND_STANDING_ORDERS else None
