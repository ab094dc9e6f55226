"""Seats that leave and join at any moment: the game goes on by its rules, and travels and repeats like any other."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.catalogue import GAMES
from engine.core.chance import Seed
from engine.core.errors import Reason, Refusal
from engine.core.games import AnyGame
from engine.core.table import Input, Table
from tests.property.playing import (
    Move,
    comings,
    deal,
    every_game,
    every_size,
    goings,
    moves,
    random_move,
    random_options,
)
from tests.property.test_random_games import check

TABLES = 8
SIGHTINGS = 1
"""How often seats leave at questions of one kind, at tables of one size."""
FURTHER = 8
"""Inputs played on after a seat has left."""


@every_game
@settings(derandomize=True, max_examples=12, deadline=None)
@given(data=st.data())
def test_a_restless_game_ends_and_is_the_same_wherever_it_travels(game: AnyGame, data: st.DataObject) -> None:
    options = {option.id: data.draw(st.sampled_from(option.values), option.id) for option in game.options}
    seats, number = data.draw(st.sampled_from(game.seats)), data.draw(st.integers(0, 1 << 32))
    restlessness = data.draw(st.sampled_from([0.002, 0.005, 0.02, 0.1]))
    random = Random(number)
    table, _ = Table.new(game, seats, options, Seed.fixed(number))
    origin = table.origin(seats)
    inputs: list[Input] = []
    for move in moves(table, random, restlessness):
        travelled = Table.load(GAMES, table.save())
        step = move.apply(table)
        assert move.apply(travelled) == step
        assert travelled.save() == table.save()
        inputs += step.inputs
        check(table, step)
    replayed = Table.replay(GAMES, origin, inputs).table
    assert (replayed.save(), replayed.outcome) == (table.save(), table.outcome)


@every_size
def test_any_seat_may_leave_at_any_kind_of_question(game: AnyGame, seats: int) -> None:
    random = Random(f"leaving {game.id} {seats}")
    sightings: Counter[str] = Counter()
    for number in range(TABLES):
        table = deal(game, seats, number, random_options(game, random))
        for move in moves(table, random):
            question = table.question(table.asked[0])
            assert question is not None
            if sightings[question.key] < SIGHTINGS:
                sightings[question.key] += 1
                leave_and_play_on(table, random)
            move.apply(table)
    assert sightings


def leave_and_play_on(table: Table, random: Random) -> None:
    """Every seat leaves, each in a copy of the table; then those who are asked, one after the other."""
    saved = table.save()
    for going in goings(table):
        left = Table.load(GAMES, saved)
        check(left, going.apply(left))
        assert going.seat not in left.asked
        for coming in comings(left):
            check(left, coming.apply(left))
        for _ in range(FURTHER):
            if left.outcome is not None:
                break
            check(left, random_move(left, random).apply(left))
            assert going.seat not in left.asked
        again = left.save()
        assert Table.load(GAMES, again).save() == again
    left = Table.load(GAMES, saved)
    while left.outcome is None and (asked := [going for going in goings(left) if going.seat in left.asked]):
        check(left, random.choice(asked).apply(left))


@every_game
def test_a_game_that_is_over_is_neither_left_nor_joined(game: AnyGame) -> None:
    random = Random(1)
    table = deal(game, game.seats.start, 1)
    for move in moves(table, random):
        move.apply(table)
    for move in (Move(0, leaves=True), Move(0, joins=True)):
        with pytest.raises(Refusal) as refused:
            move.apply(table)
        assert refused.value.reason is Reason.GAME_OVER
