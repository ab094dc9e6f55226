"""What stands around the facts of a position, in the toy game, in which seats leave at the next safe point."""

from __future__ import annotations

from typing import Any

import pytest

from engine.core.games import Registry
from engine.core.positions import PositionError, read, write
from tests.unit.core.toy import TOY

COMINGS = {"game": "toy", "seats": 3}


def faults(position: dict[str, Any]) -> list[str]:
    with pytest.raises(PositionError) as refused:
        read(Registry([TOY]), position)
    return [str(fault) for fault in refused.value.faults]


def test_who_leaves_and_who_joins_is_read_and_written() -> None:
    table = read(Registry([TOY]), COMINGS | {"departures": [2, 0], "arrivals": [3]})
    written = write(table)
    assert (written["departures"], written["arrivals"]) == ([2, 0], [3])


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ({"departures": [3]}, "departures[0]: there is no such seat"),
        ({"departures": [1, 1]}, "departures[1]: this seat is listed twice"),
        ({"arrivals": [2]}, "arrivals[0]: the next seat is 3"),
        ({"options": {"comings": "false"}, "arrivals": [3]}, "arrivals[0]: there is no place"),
    ],
)
def test_who_cannot_leave_or_join_is_told(part: dict[str, Any], fault: str) -> None:
    assert faults(COMINGS | part) == [fault]
