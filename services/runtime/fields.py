"""Bounds of the fields that callers fill, as the contracts state them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from services.runtime.errors import Reason, ServiceError

ID_MAX = 64
CREATE_REQUEST_ID_MIN = 16
GAME_MAX = 32
OPTION_MAX = 64
PICKS_MAX = 1024
PAGE_TOKEN_MAX = 256
ORDER_KEY_MAX = 32
ORDERS_MAX = 32
GAME_OPTIONS_MAX = 32


def missing(field: str) -> ServiceError:
    return ServiceError(Reason.FIELD_MISSING, f"{field} is missing", field=field)


def too_long(field: str, most: int, unit: str) -> ServiceError:
    return ServiceError(Reason.FIELD_TOO_LONG, f"{field} has more than {most} {unit}", field=field)


def check_text(field: str, text: str, most: int, least: int = 1) -> None:
    """
    Args:
        least, most: bounds of its length, in characters.

    Raises:
        ServiceError: FIELD_MISSING, FIELD_TOO_LONG, FIELD_INVALID.
    """
    if not text:
        raise missing(field)
    if len(text) > most:
        raise too_long(field, most, "characters")
    if len(text) < least:
        raise ServiceError(Reason.FIELD_INVALID, f"{field} has less than {least} characters", field=field)


def check_picks(picks: Sequence[str]) -> None:
    _check_number("picks", picks, PICKS_MAX)
    for pick in picks:
        check_text("picks", pick, OPTION_MAX)


def check_orders(orders: Mapping[str, str]) -> None:
    _check_number("orders", orders, ORDERS_MAX)
    for key, option in orders.items():
        check_text("orders", key, ORDER_KEY_MAX)
        check_text("orders", option, OPTION_MAX)


def check_player_ids(player_ids: Sequence[str], seats: int) -> None:
    """One for each seat, of which some can be empty, or none."""
    if player_ids and len(player_ids) != seats:
        raise ServiceError(
            Reason.FIELD_INVALID, "player_ids needs one for each seat, or none at all", field="player_ids"
        )
    for player_id in filter(None, player_ids):
        check_text("player_ids", player_id, ID_MAX)


def check_game_options(options: Mapping[str, str]) -> None:
    """Only how many there are: the rules know the options, and bound them by that."""
    _check_number("options", options, GAME_OPTIONS_MAX)


def _check_number(field: str, values: Collection[str], most: int) -> None:
    if len(values) > most:
        raise too_long(field, most, "entries")
