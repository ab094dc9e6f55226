"""What a table says when it does not accept something. The table is then exactly as it was."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """Stable, machine-readable reasons; they travel to clients as they are."""

    UNKNOWN_GAME = "UNKNOWN_GAME"
    SEATS_OUT_OF_RANGE = "SEATS_OUT_OF_RANGE"
    UNKNOWN_GAME_OPTION = "UNKNOWN_GAME_OPTION"
    GAME_OPTION_VALUE = "GAME_OPTION_VALUE"
    CONTRIBUTIONS = "CONTRIBUTIONS"
    SEAT_OUT_OF_RANGE = "SEAT_OUT_OF_RANGE"
    GAME_OVER = "GAME_OVER"
    NOT_ASKED = "NOT_ASKED"
    DECISION_CLOSED = "DECISION_CLOSED"
    UNKNOWN_DECISION = "UNKNOWN_DECISION"
    UNKNOWN_OPTION = "UNKNOWN_OPTION"
    TOO_FEW_PICKS = "TOO_FEW_PICKS"
    TOO_MANY_PICKS = "TOO_MANY_PICKS"
    REPEATED_PICK = "REPEATED_PICK"
    PICKS_OUT_OF_ORDER = "PICKS_OUT_OF_ORDER"
    PICK_NOT_ALONE = "PICK_NOT_ALONE"
    SEATS_FIXED = "SEATS_FIXED"
    TOO_MANY_ORDERS = "TOO_MANY_ORDERS"
    STATE_GARBLED = "STATE_GARBLED"
    RULES_VERSION = "RULES_VERSION"
    LOG_BROKEN = "LOG_BROKEN"


class Refusal(Exception):
    """An input or a load that is refused.

    `field` names the offending argument where there is one, `rule` the numbered rule, `about` further facts
    (short strings, never secret).
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        field: str = "",
        rule: str = "",
        about: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.field = field
        self.rule = rule
        self.about = about or {}


class RuleFault(Exception):
    """An error inside a rule: our defect. The table was rebuilt as it stood before the input."""
