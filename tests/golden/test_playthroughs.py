"""Whole games against the texts beside this file.

After a change of the rules, `python -m tests.golden.test_playthroughs` writes them anew; what then differs is to be
read before it is kept.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.playthrough import Playthrough

_CAREFUL = frozenset({"lose_life", "sacrifice", "add_engine"})
"""What ends a game of Camelot early."""


def _camelot(name: str, seats: int, seed: int, **options: str) -> Playthrough:
    return Playthrough(f"camelot-{seats}-{name}", "camelot", seats, seed, options, _CAREFUL)


PLAYTHROUGHS = (
    _camelot("perhaps-a-traitor", 3, 11),
    _camelot("no-traitor", 3, 6, traitor_in_deck="none"),
    _camelot("perhaps-a-traitor", 5, 6),
    _camelot("no-traitor", 5, 5, traitor_in_deck="none"),
    _camelot("perhaps-a-traitor", 7, 6),
    _camelot("no-traitor", 7, 15, traitor_in_deck="none"),
    _camelot("among-us", 5, 5, traitor_in_deck="among_us"),
    _camelot("squires", 4, 6, squires="true", squire_start_life="3", squire_start_cards="4"),
)


def _text(played: Playthrough) -> str:
    return "\n".join(played.lines()) + "\n"


def _file(played: Playthrough) -> Path:
    return Path(__file__).parent / f"{played.name}.txt"


@pytest.mark.parametrize("played", PLAYTHROUGHS, ids=lambda played: played.name)
def test_the_game_goes_as_written(played: Playthrough) -> None:
    assert _text(played).splitlines() == _file(played).read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    for each in PLAYTHROUGHS:
        _file(each).write_text(_text(each), encoding="utf-8")
