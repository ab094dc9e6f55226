"""No seat, and no spectator, can see what it must not know: neither now nor by the next inputs."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from engine.core.games import AnyGame
from tests.property.playing import deal, every_size, moves, random_options, viewers
from tests.property.secrecy import Position, leaks

TABLES = 12
POSITIONS_OF_A_TABLE = 12


def positions(game: AnyGame, seats: int, random: Random) -> Iterator[Position]:
    """Positions of random games, spread over each game's length."""
    for number in range(TABLES):
        table = deal(game, seats, number, random_options(game, random) if number else {})
        found = [Position.of(table)]
        for move in moves(table, random):
            move.apply(table)
            found.append(Position.of(table))
        open_ones = [position for position in found if position is not None]
        yield from random.sample(open_ones, min(len(open_ones), POSITIONS_OF_A_TABLE))


@every_size
def test_nobody_can_tell_it_where_seats_come_and_go(game: AnyGame, seats: int) -> None:
    random = Random(f"restless secrecy {game.id} {seats}")
    for number in range(6):
        table = deal(game, seats, number, random_options(game, random))
        for move in moves(table, random, restlessness=0.01):
            move.apply(table)
            position = Position.of(table)
            if position is not None and random.random() < 0.03:
                for viewer in viewers(position.as_dealt()):
                    assert list(leaks(position, viewer, random)) == []


@every_size
def test_nobody_can_tell_what_he_must_not_know(game: AnyGame, seats: int) -> None:
    random = Random(f"secrecy {game.id} {seats}")
    for position in positions(game, seats, random):
        for viewer in [*range(seats), None]:
            assert list(leaks(position, viewer, random)) == []
