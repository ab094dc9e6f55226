"""Every game of the registry, played at random to its end, with everything that must hold after each input."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
import pytest

from engine.core.events import Told
from engine.core.games import AnyGame
from engine.core.positions import faults_of
from engine.core.table import Step, Table
from tests.property.playing import deal, every_size, moves, random_options, seats_of, viewers

GAMES_IN_ALL = 200
"""Random games of each game, over all its seat counts and both kinds of options."""
OPTION_ID_MAX = 64
SEARCH_EVERY = 8
"""Inputs from one search of every view and option, value by value, to the next; all else is checked after each."""


@every_size
@pytest.mark.parametrize("options", ["default", "random"])
def test_random_games_reach_an_end_and_keep_every_invariant(game: AnyGame, seats: int, options: str) -> None:
    for number in range(-(-GAMES_IN_ALL // (2 * len(game.seats)))):
        random = Random(f"{game.id} {seats} {options} {number}")
        chosen = random_options(game, random) if options == "random" else {}
        table = deal(game, seats, number, chosen)
        check(table, None)
        for move in moves(table, random):
            before = table.version
            step = move.apply(table)
            assert table.version == before + len(step.inputs)
            check(table, step)
        assert table.outcome is not None
        assert table.outcome.rule in game.rules
        assert set(table.outcome.winners) <= set(seats_of(table))


def check(table: Table, step: Step | None) -> None:
    assert faults_of(table.game, table.play) == []
    check_questions(table)
    for viewer in viewers(table):
        view = table.view(viewer)
        assert view.asked == table.asked
        assert view.outcome == table.outcome
        if table.version % SEARCH_EVERY == 0:
            assert secret_types(view.game) == []
    for told in step.told if step else ():
        check_event(table, told)


def check_questions(table: Table) -> None:
    assert (table.outcome is None) == bool(table.asked)
    assert set(table.asked) <= set(seats_of(table))
    for seat in seats_of(table):
        question = table.question(seat)
        if seat not in table.asked:
            assert question is None
            continue
        assert question is not None
        assert question.seat == seat
        assert question.options
        ids = [option.id for option in question.options]
        assert len(set(ids)) == len(ids)
        assert 0 <= question.least <= question.most <= len(ids)
        question.judge(question.default)
        for option in question.options:
            assert 0 < len(option.id) <= OPTION_ID_MAX
            assert option.title
            assert option.rule in table.game.rules
        if table.version % SEARCH_EVERY == 0:
            for option in question.options:
                assert secret_types(option) == []
                explained = question.explain(option.id)
                assert (explained.offered, explained.rule) == (True, option.rule)


def check_event(table: Table, told: Told) -> None:
    """A private form is the public one with its hidden fields filled in."""
    assert told.public.rule in table.game.rules
    for seat, private in (told.private or {}).items():
        assert seat in seats_of(table)
        assert type(private) is type(told.public)
        for field in msgspec.structs.fields(type(private)):
            shown = getattr(told.public, field.name)
            assert shown in (getattr(private, field.name), field.default), field.name
        assert secret_types(private) == []
    assert secret_types(told.public) == []


def secret_types(value: Any) -> list[str]:
    """Types inside a value that only a state holds: raw bytes, or a mutable struct."""
    return sorted({type(each).__name__ for each in parts(value) if is_of_state(each)})


def is_of_state(value: Any) -> bool:
    if isinstance(value, bytes | bytearray | memoryview):
        return True
    return isinstance(value, msgspec.Struct) and not type(value).__struct_config__.frozen


def parts(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from parts(getattr(value, name))
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from parts(key)
            yield from parts(each)
    elif isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from parts(each)
