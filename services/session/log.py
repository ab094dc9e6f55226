"""The log of a game: its inputs, in a few bytes each, from which it can be replayed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from roundtable.engine.v1 import engine_pb2
from services.runtime.errors import Reason, ServiceError

_SEATS = 16
_NUMBER_DIGITS_MAX = 9

_encode = msgspec.msgpack.encode
_decode = msgspec.msgpack.Decoder(list[Any]).decode

OUTCOMES = {
    engine_pb2.INPUT_KIND_ANSWER: "answer",
    engine_pb2.INPUT_KIND_DEFAULT_ANSWER: "default_answer",
    engine_pb2.INPUT_KIND_STANDING_ANSWER: "standing_answer",
}
"""What can come of a decision for a seat, in words for error metadata."""
COMINGS = {engine_pb2.INPUT_KIND_LEAVE: "left", engine_pb2.INPUT_KIND_JOIN: "joined"}
"""What else can become of a seat."""
UNANSWERED = "unanswered"
"""The decision was closed without this seat."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of a decision for a seat."""

    version: int
    """The version that the closing input made."""
    outcome: str
    picks: tuple[int, ...]
    """Positions in the decision's options."""


def encode_input(logged: engine_pb2.LoggedInput) -> bytes:
    head = logged.kind * _SEATS + logged.seat
    if logged.kind == engine_pb2.INPUT_KIND_STANDING_ORDERS:
        return _encode([head, dict(logged.orders)])
    if logged.kind in COMINGS:
        return _encode([head, None])
    return _encode([head, _shortened(logged.decision), *logged.picks])


def decode_input(entry: bytes) -> engine_pb2.LoggedInput:
    head, what, *picks = _decode(entry)
    kind, seat = divmod(head, _SEATS)
    kind = engine_pb2.InputKind.ValueType(kind)
    if kind == engine_pb2.INPUT_KIND_STANDING_ORDERS:
        return engine_pb2.LoggedInput(kind=kind, seat=seat, orders=what)
    if kind in COMINGS:
        return engine_pb2.LoggedInput(kind=kind, seat=seat)
    return engine_pb2.LoggedInput(kind=kind, seat=seat, decision=str(what), picks=picks)


def decode_log(entries: Iterable[bytes]) -> list[engine_pb2.LoggedInput]:
    """A log from its first input on.

    Raises:
        ServiceError: LOG_BROKEN, for what no input was stored as.
    """
    log: list[engine_pb2.LoggedInput] = []
    for version, entry in enumerate(entries, 1):
        try:
            log.append(decode_input(entry))
        except (msgspec.DecodeError, TypeError, ValueError) as fault:
            raise ServiceError(
                Reason.LOG_BROKEN, f"input {version} cannot be read", metadata={"version": str(version)}
            ) from fault
    return log


def what_came_of(answers: Iterable[tuple[int, bytes]], seat: int) -> Answered | None:
    """What came of a decision for a seat; nothing if no input has answered it.

    Args:
        answers: the inputs that answered it, each with the version that it made, ascending.
    """
    version = None
    for version, entry in answers:
        head, _, *picks = _decode(entry)
        kind, answering = divmod(head, _SEATS)
        if answering == seat:
            return Answered(version, OUTCOMES[engine_pb2.InputKind.ValueType(kind)], tuple(picks))
    return None if version is None else Answered(version, UNANSWERED, ())


def decision_number(decision: str) -> int | None:
    """The number that the id of a decision is; None if it is another text."""
    if decision.isascii() and decision.isdigit() and len(decision) <= _NUMBER_DIGITS_MAX and decision[0] != "0":
        return int(decision)
    return None


def _shortened(decision: str) -> int | str:
    """Most ids of decisions are numbers, and take less space as such."""
    number = decision_number(decision)
    return decision if number is None else number
