"""A game at any moment, written as a position and read again, is the same game."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from engine.catalogue import GAMES
from engine.core.facts import Fault
from engine.core.games import AnyGame
from engine.core.positions import PositionError, read_text, to_text, write
from engine.core.table import Table
from tests.property.playing import deal, every_size, moves, random_options, viewers
from tests.property.test_saving import open_questions

CHECKED = 0.2
FURTHER = 12


def exported(table: Table) -> Table:
    return read_text(GAMES, to_text(write(table)))


def assert_same_to_all(one: Table, other: Table) -> None:
    assert (one.decision, one.asked, one.version) == (other.decision, other.asked, other.version)
    assert (one.history, one.orders, one.outcome) == (other.history, other.orders, other.outcome)
    assert open_questions(one) == open_questions(other)
    for viewer in viewers(one):
        assert one.view(viewer) == other.view(viewer)


@every_size
@pytest.mark.parametrize("number", range(2))
def test_a_position_goes_on_as_the_game_does(game: AnyGame, seats: int, number: int) -> None:
    random = Random(f"positions {game.id} {seats} {number}")
    table = deal(game, seats, number, random_options(game, random) if number else {})
    copies: list[tuple[Table, int]] = []
    compared, within_rules = 0, 0
    for move in moves(table, random):
        if random.random() < CHECKED:
            copy = exported(table)
            assert_same_to_all(copy, table)
            assert write(copy) == write(table)
            within_rules += bool(table.since_mark())
            copies.append((copy, FURTHER))
        step = move.apply(table)
        for copy, _ in copies:
            assert move.apply(copy) == step
            assert_same_to_all(copy, table)
            compared += 1
        copies = [(copy, left - 1) for copy, left in copies if left > 1]
    assert_same_to_all(exported(table), table)
    assert compared > 50
    assert within_rules > 0


@every_size
def test_a_position_that_somebody_changed_is_refused_or_can_be_played(game: AnyGame, seats: int) -> None:
    """Nothing that is read as a position makes the rules fail."""
    random = Random(f"changed positions {game.id} {seats}")
    table = deal(game, seats, 7)
    accepted = refused = 0
    for move in moves(table, random):
        if random.random() < CHECKED:
            text = to_text(write(table))
            for _ in range(3):
                position = json.loads(text)
                change(position, random)
                changed, faults = read_or_refuse(json.dumps(position))
                refused += bool(faults)
                assert all(fault.path and "cannot go on" not in fault.problem for fault in faults)
                if changed is not None:
                    accepted += 1
                    play_on(changed, random)
        move.apply(table)
    assert accepted > 4
    assert refused > 4


def read_or_refuse(text: str) -> tuple[Table | None, list[Fault]]:
    try:
        return read_text(GAMES, text), []
    except PositionError as refusal:
        return None, refusal.faults


def play_on(table: Table, random: Random) -> None:
    for _, move in zip(range(FURTHER), moves(table, random), strict=False):
        move.apply(table)
        for viewer in viewers(table):
            table.view(viewer)


def change(position: dict[str, Any], random: Random) -> None:
    """Changes one value somewhere within the facts or the inputs."""
    owner: Any = position
    key: Any = random.choice([part for part in ("facts", "facts", "inputs", "options") if part in position])
    while isinstance(owner[key], (dict, list)) and owner[key] and random.random() < 0.9:
        owner = owner[key]
        key = random.choice(list(owner) if isinstance(owner, dict) else range(len(owner)))
    old = owner[key]
    if random.random() < 0.2:
        del owner[key]
    elif isinstance(old, bool):
        owner[key] = not old
    elif isinstance(old, int):
        owner[key] = old + random.choice((-3, -1, 1, 2, 7))
    elif isinstance(old, list):
        owner[key] = random.choice([[], old[:-1], old + old[:1], random.sample(old, len(old))])
    else:
        owner[key] = random.choice(["", 0, None, "alive", "dead", "grail", "heroic", "traitor", "sharing", "?", "..."])
