"""Shadows over Camelot as a game that tables can play."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from engine.camelot import explaining, invariants, life, positions, secrecy, talk, turns, view
from engine.camelot.box import BOX
from engine.camelot.camelot import Camelot
from engine.camelot.pieces import FIGURES, Ending
from engine.camelot.rulebook import RULES
from engine.camelot.state import Options, State
from engine.core.chance import Chance
from engine.core.decisions import Question, Script
from engine.core.errors import Reason, Refusal
from engine.core.events import Event
from engine.core.facts import Deck, Fault
from engine.core.games import Game, OptionSpec


def text(value: bool | int | str) -> str:
    return str(value).lower()


class ShadowsOverCamelot(Game[State, Options]):
    id = "camelot"
    title = "Shadows over Camelot"
    rules_version = 2
    seats = range(FIGURES.players_min, FIGURES.players_max + 1)
    rules = RULES
    options = tuple(
        OptionSpec(option.id, option.title, tuple(map(text, option.values)), text(option.default))
        for option in BOX.options
    )
    endings = tuple(ending.name.lower() for ending in Ending)
    state_type = State
    options_type = Options

    def deal(self, seats: int, options: Options, chance: Chance) -> State:
        return turns.deal(seats, options, chance)

    def seats_of(self, play: Camelot) -> Collection[int]:
        return range(len(play.state.knights) + len(play.arrivals))

    def play(self, state: State, options: Options, chance: Chance) -> Camelot:
        return Camelot(state, options, chance)

    def script(self, play: Camelot) -> Script:
        return turns.script(play)

    def view(self, play: Camelot, seat: int | None) -> view.CamelotView:
        return view.view(play, seat)

    def why_not(self, play: Camelot, seat: int, candidate: str, asked: Question[Any] | None) -> str | None:
        return explaining.why_not(play, seat, candidate, asked)

    def redeal(self, play: Camelot, seat: int | None, chance: Chance) -> None:
        secrecy.redeal(play, seat, chance)

    def reveals(self) -> frozenset[type[Event]]:
        return secrecy.REVEALING

    def may_leave(self, play: Camelot, seat: int) -> None:
        knight = play.knight_at(seat)
        if knight is None:
            raise Refusal(Reason.SEATS_FIXED, "a newcomer sits down before he can leave", field="seat", rule="R20.8")
        if knight.standing in turns.OUT_OF_THE_GAME:
            raise Refusal(Reason.SEATS_FIXED, "this seat is out of the game", field="seat", rule="R20.2")

    def depart(self, play: Camelot, seat: int) -> None:
        life.leave(play, play.state.knights[seat])

    def may_join(self, play: Camelot) -> int:
        seat = len(self.seats_of(play))
        if seat >= FIGURES.players_max:
            raise Refusal(Reason.SEATS_FIXED, "every seat has been taken", rule="R20.1")
        if len(play.state.spare_loyalty) <= len(play.arrivals):
            raise Refusal(Reason.SEATS_FIXED, "every loyalty card has been dealt", rule="R20.8")
        return seat

    def faults(self, play: Camelot, *, resting: bool = False) -> Iterable[Fault]:
        return invariants.faults(play, resting=resting)

    def decks(self, play: Camelot) -> Mapping[str, Deck]:
        return positions.decks(play)

    def seats_of_facts(self, given: Mapping[str, Any]) -> int | None:
        return len(positions.as_list(given.get("knights"))) or None

    def set_up_facts(self, given: Mapping[str, Any], seats: int, options: Options) -> dict[str, Any]:
        return positions.set_up(given, seats, options)

    def tidy(self, state: State) -> None:
        positions.tidy(state)

    def declarations(self, play: Camelot, seat: int) -> Sequence[talk.Remark]:
        return list(talk.remarks(play, seat))

    def turn(self, play: Camelot) -> int:
        return play.state.turns


CAMELOT = ShadowsOverCamelot()
