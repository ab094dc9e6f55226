"""What the rules refuse, as the error a caller gets; and what goes wrong in them, as a log entry without secrets."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from engine.core.errors import Reason as RulesReason
from engine.core.errors import Refusal
from engine.core.positions import PositionError
from services.runtime.errors import Reason, ServiceError
from services.runtime.logging import get_logger

_log = get_logger()

# The others go by the same name in the contracts.
_REASONS = {
    RulesReason.CONTRIBUTIONS: Reason.FIELD_INVALID,
    RulesReason.SEAT_OUT_OF_RANGE: Reason.FIELD_INVALID,
    RulesReason.TOO_MANY_ORDERS: Reason.FIELD_TOO_LONG,
}


@contextmanager
def refusals() -> Iterator[None]:
    """Turns what the rules raise into a ServiceError; anything but a refusal is our defect, logged, and INTERNAL."""
    try:
        yield
    except ServiceError:
        raise
    except PositionError as refusal:
        raise ServiceError(
            Reason.POSITION_INVALID,
            "the position stands for no moment of a game",
            field="position",
            metadata={"faults": str(len(refusal.faults))},
            faults=refusal.faults,
        ) from refusal
    except Refusal as refusal:
        if refusal.__cause__ is not None:
            _log.warning("refused", reason=refusal.reason, fault=describe(refusal.__cause__))
        raise translate(refusal) from refusal
    except Exception as fault:
        _log.error("failed", fault=describe(fault))
        raise ServiceError(Reason.INTERNAL, "the rules failed; the engine's log tells where") from fault


def translate(refusal: Refusal) -> ServiceError:
    reason = _REASONS.get(refusal.reason) or Reason(refusal.reason.value)
    return ServiceError(
        reason, refusal.message, field=refusal.field or None, rule=refusal.rule or None, metadata=refusal.about
    )


def describe(fault: BaseException) -> list[str]:
    """Types and places of an error and its causes, the first cause last. Not their texts, which can hold a card."""
    found: list[str] = []
    cause: BaseException | None = fault
    while cause is not None:
        places = [
            f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(cause.__traceback__)
        ]
        found += [type(cause).__name__, *places]
        cause = cause.__cause__ or cause.__context__
    return found
