"""The same seed and inputs are the same game, to the byte, wherever it is played."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.core.games import AnyGame
from tests.property.playing import every_size
from tests.property.transcript import transcript

ROOT = Path(__file__).parents[2]


@every_size
@pytest.mark.parametrize("seed", [1, 2])
def test_a_game_repeats_in_another_process_with_another_hash_seed(game: AnyGame, seats: int, seed: int) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.property.transcript", game.id, str(seats), str(seed)],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": str(1000 + seed)},
        capture_output=True,
        text=True,
        check=True,
    )
    here = list(transcript(game, seats, seed))
    assert len(here) > 10
    assert run.stdout.splitlines() == here


@every_size
def test_another_seed_is_another_game(game: AnyGame, seats: int) -> None:
    assert next(iter(transcript(game, seats, 1))) != next(iter(transcript(game, seats, 2)))
