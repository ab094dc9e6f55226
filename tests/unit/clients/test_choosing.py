"""Random answers are legal, and every legal answer can come."""

from random import Random

import pytest

from clients.choosing import choose_at_random
from clients.players import picks_at_random
from roundtable.table.v1.table_pb2 import Decision, Option


def answers(alone: list[bool], least: int, most: int, *, ordered: bool = False) -> set[tuple[int, ...]]:
    random = Random(1)
    return {tuple(choose_at_random(random, alone, least, most, ordered=ordered)) for _ in range(500)}


@pytest.mark.parametrize(
    ("alone", "least", "most", "legal"),
    [
        ([False], 1, 1, {(0,)}),
        ([False] * 3, 1, 1, {(0,), (1,), (2,)}),
        ([False] * 3, 2, 2, {(0, 1), (0, 2), (1, 2)}),
        ([False] * 2, 0, 2, {(), (0,), (1,), (0, 1)}),
        ([True, False, False], 1, 2, {(0,), (1,), (2,), (1, 2)}),
        ([False, True], 1, 2, {(0,), (1,)}),
        ([True, False], 2, 2, {(0,)}),
    ],
)
def test_exactly_the_legal_answers_come(alone: list[bool], least: int, most: int, legal: set[tuple[int, ...]]) -> None:
    assert answers(alone, least, most) == legal


def test_where_the_order_matters_every_order_comes() -> None:
    assert answers([False] * 2, 2, 2, ordered=True) == {(0, 1), (1, 0)}


def test_picks_are_ids_of_the_options_offered() -> None:
    decision = Decision(id="1", options=[Option(id="a"), Option(id="b")], min=2, max=2)

    assert picks_at_random(Random(1), decision) == ["a", "b"]
