"""The log of a game: its inputs, in a few bytes each, from which it can be replayed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from roundtable.engine.v1 import engine_pb2

_SEATS = 16
_COUNTER_DIGITS_MAX = 9

_encode = msgspec.msgpack.encode
_decode = msgspec.msgpack.Decoder(list[Any]).decode

OUTCOMES = {
    engine_pb2.INPUT_KIND_ANSWER: "answer",
    engine_pb2.INPUT_KIND_DEFAULT_ANSWER: "default_answer",
    engine_pb2.INPUT_KIND_STANDING_ANSWER: "standing_answer",
}
"""What can come of a decision for a seat, in words for error metadata."""
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
    return _encode([head, _shortened(logged.decision), *logged.picks])


def decode_input(entry: bytes) -> engine_pb2.LoggedInput:
    head, what, *picks = _decode(entry)
    kind, seat = divmod(head, _SEATS)
    kind = engine_pb2.InputKind.ValueType(kind)
    if kind == engine_pb2.INPUT_KIND_STANDING_ORDERS:
        return engine_pb2.LoggedInput(kind=kind, seat=seat, orders=what)
    return engine_pb2.LoggedInput(kind=kind, seat=seat, decision=str(what), picks=picks)


def what_came_of(log: Sequence[bytes], seat: int, decision: str) -> Answered | None:
    """What a log says about a decision; nothing if no input has answered it."""
    what = _shortened(decision)
    others = None
    for version in range(len(log), 0, -1):
        head, answered, *picks = _decode(log[version - 1])
        if answered != what:
            continue
        kind, answering = divmod(head, _SEATS)
        if answering == seat:
            return Answered(version, OUTCOMES[engine_pb2.InputKind.ValueType(kind)], tuple(picks))
        others = others or Answered(version, UNANSWERED, ())
    return others


def _shortened(decision: str) -> int | str:
    """Most ids of decisions are counters, and take less space as such."""
    if decision.isascii() and decision.isdigit() and len(decision) <= _COUNTER_DIGITS_MAX and decision[0] != "0":
        return int(decision)
    return decision
