"""What the rules refuse reaches callers with a reason of the contracts."""

import pytest

from engine.core.errors import Reason as RulesReason
from engine.core.errors import Refusal
from services.engine.refusals import describe, translate
from services.runtime.errors import Reason


@pytest.mark.parametrize("reason", RulesReason)
def test_every_reason_has_one_in_the_contracts(reason: RulesReason) -> None:
    error = translate(Refusal(reason, "no", field="picks", rule="R6.1", about={"here": "1"}))

    assert error.reason in (Reason.FIELD_INVALID, Reason.FIELD_TOO_LONG, reason.value)
    assert (error.message, error.field, error.rule, error.metadata["here"]) == ("no", "picks", "R6.1", "1")


def test_a_fault_is_described_by_types_and_places_without_its_texts() -> None:
    try:
        try:
            raise KeyError("the traitor is seat 3")
        except KeyError as cause:
            raise ValueError("seat 3") from cause
    except ValueError as error:
        described = describe(error)

    assert [line for line in described if ":" not in line] == ["ValueError", "KeyError"]
    assert all(__file__ in line for line in described if ":" in line)
    assert "seat 3" not in repr(described)
