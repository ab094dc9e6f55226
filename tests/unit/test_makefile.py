"""The front door takes what it is given, also nothing."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_an_empty_variable_is_as_one_that_is_left_out() -> None:
    command = ["make", "-n", "demo", "GAME=", "PLAYERS=", "GAMES=", "SEED="]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    (demo,) = (line for line in made.stdout.splitlines() if "roundtable demo" in line)
    assert demo.split("roundtable ")[1].split() == ["demo", "--game", "camelot", "--players", "5", "--games", "1"]
