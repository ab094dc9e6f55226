"""Random games as records: `python -m tests.records.make` keeps some for the version of the rules in force.

They are made once for each released version, and never again.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

from engine.catalogue import GAMES
from engine.core.chance import Seed
from engine.core.games import AnyGame
from engine.core.records import Record, record_of, to_text
from engine.core.table import Input, Table
from tests.property.playing import moves, random_options

FOLDER = Path(__file__).parent
GAMES_KEPT = 5


def played(game: AnyGame, seats: int, options: Mapping[str, str], seed: Seed, random: Random) -> Record:
    """The record of a random game."""
    table, _ = Table.new(game, seats, options, seed)
    again, _ = Table.new(game, seats, options, seed)
    inputs: list[tuple[Input, bytes]] = []
    for move in moves(table, random):
        for given in move.apply(table).inputs:
            again.play_again(given)
            inputs.append((given, again.history))
    return record_of(f"{game.id}-{seats}", table, seats, inputs)


def main() -> None:
    for game in GAMES:
        for number in range(GAMES_KEPT):
            random = Random(number)
            seats = game.seats[number % len(game.seats)]
            options = random_options(game, random) if number else {}
            record = played(game, seats, options, Seed(random.randbytes(32)), random)
            file = FOLDER / f"{game.id}-v{game.rules_version}-{number + 1}.json"
            file.write_text(to_text(record))


if __name__ == "__main__":
    main()
