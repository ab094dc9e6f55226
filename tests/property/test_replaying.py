"""A game's set-up and inputs are the game: played again they make the same table, and altered ones are found."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from engine.catalogue import GAMES
from engine.core.chance import Seed
from engine.core.errors import Reason, Refusal
from engine.core.games import AnyGame
from engine.core.table import Input, InputKind, Table
from tests.property.playing import every_size, moves, random_options


def played(game: AnyGame, seats: int, number: int) -> tuple[bytes, Table, list[Input], list[bytes]]:
    """Origin, table, inputs and the digest after each step of a random game."""
    random = Random(f"replaying {game.id} {seats} {number}")
    seed = Seed(random.randbytes(32), tuple(random.randbytes(seat) for seat in range(seats)))
    table, _ = Table.new(game, seats, random_options(game, random), seed)
    origin = table.origin(seats)
    inputs: list[Input] = []
    digests = []
    for move in moves(table, random):
        inputs += move.apply(table).inputs
        digests.append(table.history)
    return origin, table, inputs, digests


@every_size
def test_a_game_played_again_is_the_same(game: AnyGame, seats: int) -> None:
    origin, table, inputs, digests = played(game, seats, 1)

    again = Table.replay(GAMES, origin, inputs)

    assert again.table.save() == table.save()
    assert (again.seats, again.table.seed, again.table.outcome) == (seats, table.seed, table.outcome)
    assert len(again.digests) == len(inputs) == table.version
    assert set(digests) <= set(again.digests)
    assert again.digests[-1] == table.history
    half = Table.replay(GAMES, origin, inputs[: len(inputs) // 2 + _orders_after(inputs, len(inputs) // 2)])
    assert half.table.history == again.digests[half.table.version - 1]


def _orders_after(inputs: list[Input], place: int) -> int:
    """How many inputs at this place belong to the step before it."""
    number = 0
    while inputs[place + number].kind is InputKind.ORDER:
        number += 1
    return number


@every_size
def test_an_altered_input_is_refused_or_makes_another_history(game: AnyGame, seats: int) -> None:
    origin, table, inputs, _ = played(game, seats, 2)
    random = Random(f"altering {game.id} {seats}")
    for _ in range(20):
        place = random.randrange(len(inputs))
        one = inputs[place]
        other = random.choice(
            [
                msgspec.structs.replace(one, seat=(one.seat + 1) % seats),
                msgspec.structs.replace(one, ask=one.ask + 1),
                msgspec.structs.replace(one, picks=(*one.picks, 99)),
                msgspec.structs.replace(one, picks=(0,) if one.picks != (0,) else (1,)),
            ]
        )
        found = outcome(origin, [*inputs[:place], other, *inputs[place + 1 :]])
        if isinstance(found, Refusal):
            assert found.reason is Reason.LOG_BROKEN
            assert int(found.about["version"]) >= place + 1
        else:
            assert found.history != table.history


def outcome(origin: bytes, inputs: list[Input]) -> Table | Refusal:
    try:
        return Table.replay(GAMES, origin, inputs).table
    except Refusal as refusal:
        return refusal


@every_size
def test_an_input_that_is_left_out_is_noticed(game: AnyGame, seats: int) -> None:
    origin, _, inputs, _ = played(game, seats, 3)
    for place in (0, len(inputs) // 2):
        with pytest.raises(Refusal) as refusal:
            Table.replay(GAMES, origin, inputs[:place] + inputs[place + 1 :])
        assert refusal.value.reason is Reason.LOG_BROKEN


def test_an_origin_that_is_damaged_or_of_other_rules_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    game = next(iter(GAMES))
    origin = Table.new(game, game.seats[0], {}, Seed.fixed(1))[0].origin(game.seats[0])
    for damaged in (b"", origin[:-1], bytes([origin[0] ^ 1]) + origin[1:]):
        with pytest.raises(Refusal) as refusal:
            Table.replay(GAMES, damaged, [])
        assert (refusal.value.reason, refusal.value.field) == (Reason.STATE_GARBLED, "origin")
    monkeypatch.setattr(game, "rules_version", game.rules_version + 1)
    with pytest.raises(Refusal) as refusal:
        Table.replay(GAMES, origin, [])
    assert (refusal.value.reason, refusal.value.field) == (Reason.RULES_VERSION, "origin")
