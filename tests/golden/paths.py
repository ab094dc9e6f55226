"""Counting every way a game can go on: a rule that offers too much or too little changes the count."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations
from typing import Any

from engine.catalogue import GAMES
from engine.core.decisions import Question
from engine.core.table import Table


def paths(table: Table, depth: int) -> int:
    """The number of different sequences of so many answers, each of the first seat asked. A game that is over ends a
    sequence. Chance falls as the table's seed says."""
    if depth == 0 or table.outcome is not None:
        return 1
    question = table.question(table.asked[0])
    assert question is not None
    if depth == 1:
        return sum(1 for _ in _answers(question))
    saved = table.save()
    number = 0
    for places in _answers(question):
        after = Table.load(GAMES, saved)
        after.answer_places(question.seat, places)
        number += paths(after, depth - 1)
    return number


def _answers(question: Question[Any]) -> Iterator[tuple[int, ...]]:
    """Every answer that is legal, as places in the list on offer."""
    places = [place for place, option in enumerate(question.options) if not option.alone]
    yield from ((place,) for place, option in enumerate(question.options) if option.alone)
    arranged = permutations if question.ordered else combinations
    for number in range(question.least, min(question.most, len(places)) + 1):
        yield from arranged(places, number)
