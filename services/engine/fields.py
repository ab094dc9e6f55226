"""Bounds of what only the engine takes."""

from __future__ import annotations

from engine.core.table import Table
from services.runtime.errors import Reason, ServiceError
from services.runtime.fields import missing, too_long

STATE_BYTES_MAX = 256 << 10
POSITION_BYTES_MAX = 256 << 10
ORIGIN_BYTES_MAX = 4 << 10


def check_state(state: bytes) -> None:
    if not state:
        raise missing("state")
    if len(state) > STATE_BYTES_MAX:
        raise too_long("state", STATE_BYTES_MAX, "bytes")


def check_origin(origin: bytes) -> None:
    if not origin:
        raise missing("origin")
    if len(origin) > ORIGIN_BYTES_MAX:
        raise too_long("origin", ORIGIN_BYTES_MAX, "bytes")


def check_position(position: str) -> None:
    if not position:
        raise missing("position")
    if len(position.encode()) > POSITION_BYTES_MAX:
        raise too_long("position", POSITION_BYTES_MAX, "bytes")


def check_input(kind: str | None) -> str:
    if kind is None:
        raise missing("input")
    return kind


def check_seat(table: Table, seat: int) -> None:
    if seat not in table.game.seats_of(table.play):
        raise ServiceError(Reason.FIELD_INVALID, "no such seat at this table", field="seat")
