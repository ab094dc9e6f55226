"""Bounds of the fields that callers fill, as the contracts state them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.core.table import Table
from services.runtime.errors import Reason, ServiceError

STATE_BYTES_MAX = 256 << 10
GAME_MAX = 32
DECISION_MAX = 64
OPTION_MAX = 64
PICKS_MAX = 1024
KEY_MAX = 32
ORDERS_MAX = 32
GAME_OPTIONS_MAX = 32


def _missing(field: str) -> ServiceError:
    return ServiceError(Reason.FIELD_MISSING, f"{field} is missing", field=field)


def _too_long(field: str, most: int, unit: str) -> ServiceError:
    return ServiceError(Reason.FIELD_TOO_LONG, f"{field} has more than {most} {unit}", field=field)


def check_text(field: str, text: str, most: int) -> None:
    if not text:
        raise _missing(field)
    if len(text) > most:
        raise _too_long(field, most, "characters")


def check_state(state: bytes) -> None:
    if not state:
        raise _missing("state")
    if len(state) > STATE_BYTES_MAX:
        raise _too_long("state", STATE_BYTES_MAX, "bytes")


def check_input(kind: str | None) -> str:
    if kind is None:
        raise _missing("input")
    return kind


def check_picks(picks: Sequence[str]) -> None:
    if len(picks) > PICKS_MAX:
        raise _too_long("picks", PICKS_MAX, "picks")
    for pick in picks:
        check_text("picks", pick, OPTION_MAX)


def check_orders(orders: Mapping[str, str]) -> None:
    if len(orders) > ORDERS_MAX:
        raise _too_long("orders", ORDERS_MAX, "orders")
    for key, option in orders.items():
        check_text("orders", key, KEY_MAX)
        check_text("orders", option, OPTION_MAX)


def check_game_options(options: Mapping[str, str]) -> None:
    if len(options) > GAME_OPTIONS_MAX:
        raise _too_long("options", GAME_OPTIONS_MAX, "options")


def check_seat(table: Table, seat: int) -> None:
    if seat not in table.game.seats_of(table.play):
        raise ServiceError(Reason.FIELD_INVALID, "no such seat at this table", field="seat")
