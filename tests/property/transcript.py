"""One random game as text: `python -m tests.property.transcript GAME SEATS SEED`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from random import Random

from engine.catalogue import GAMES
from engine.core.games import AnyGame
from tests.property.playing import deal, moves, random_options, viewers


def transcript(game: AnyGame, seats: int, seed: int) -> Iterator[str]:
    """Every input, what each seat is told of it, what each sees, and the saved bytes."""
    random = Random(seed)
    table = deal(game, seats, seed, random_options(game, random))
    yield table.save().hex()
    for move in moves(table, random):
        step = move.apply(table)
        yield f"{move} {step.inputs}"
        for told in step.told:
            yield f"{told}"
        yield table.save().hex()
    for viewer in viewers(table):
        yield f"{table.view(viewer)}"


def main(game: str, seats: str, seed: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in transcript(GAMES.get(game), int(seats), int(seed)))


if __name__ == "__main__":
    main(*sys.argv[1:])
