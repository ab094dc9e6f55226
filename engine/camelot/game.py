"""Shadows over Camelot as a game that tables can play."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from engine.camelot import invariants, positions, secrecy, turns, view
from engine.camelot.box import BOX
from engine.camelot.camelot import Camelot
from engine.camelot.pieces import FIGURES, Ending
from engine.camelot.rulebook import RULES
from engine.camelot.state import Options, State
from engine.core.chance import Chance
from engine.core.decisions import Script
from engine.core.events import Event
from engine.core.games import Game, OptionSpec

SQUIRES = ("squires", "squire_start_life", "squire_start_cards")
"""Options of the Squire's Challenge, which is not part of the game yet: they are not on offer."""


def text(value: bool | int | str) -> str:
    return str(value).lower()


class ShadowsOverCamelot(Game[State, Options]):
    id = "camelot"
    title = "Shadows over Camelot"
    rules_version = 1
    seats = range(FIGURES.players_min, FIGURES.players_max + 1)
    rules = RULES
    options = tuple(
        OptionSpec(option.id, option.title, tuple(map(text, option.values)), text(option.default))
        for option in BOX.options
        if option.id not in SQUIRES
    )
    endings = tuple(ending.name.lower() for ending in Ending)
    state_type = State
    options_type = Options

    def deal(self, seats: int, options: Options, chance: Chance) -> State:
        return turns.deal(seats, options, chance)

    def position(self, facts: Mapping[str, Any], options: Options, chance: Chance) -> State:
        return positions.build(facts, options, chance)

    def seats_of(self, play: Camelot) -> Collection[int]:
        return range(len(play.state.knights))

    def play(self, state: State, options: Options, chance: Chance) -> Camelot:
        return Camelot(state, options, chance)

    def script(self, play: Camelot) -> Script:
        return turns.script(play)

    def view(self, play: Camelot, seat: int | None) -> view.CamelotView:
        return view.view(play, seat)

    def redeal(self, play: Camelot, seat: int | None, chance: Chance) -> None:
        secrecy.redeal(play, seat, chance)

    def reveals(self) -> frozenset[type[Event]]:
        return secrecy.REVEALING

    def faults(self, play: Camelot) -> Iterable[str]:
        return invariants.faults(play)


CAMELOT = ShadowsOverCamelot()
