"""Tables that begin in any situation: for tests, puzzles and bug reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.core.chance import Chance, Seed
from engine.core.games import AnyGame
from engine.core.table import Table


class PositionError(ValueError):
    """A description that stands for no state of play; `faults` names everything that is wrong."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


def set_up(game: AnyGame, facts: Mapping[str, Any], options: Mapping[str, str] | None = None, seed: int = 0) -> Table:
    """Begins a game from a described position and runs it to its first question."""
    chosen = game.parse_options(options or {})
    fixed = Seed.fixed(seed)
    chance = Chance(fixed)
    try:
        state = game.position(facts, chosen, chance)
    except ValueError as fault:
        raise PositionError([str(fault)]) from fault
    faults = list(game.faults(game.play(state, chosen, chance)))
    if faults:
        raise PositionError(faults)
    table, _ = Table.begin(game, state, chosen, fixed, chance)
    return table
