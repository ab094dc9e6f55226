"""Why a choice is not there, where the knight is asked something else or nothing at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.camelot import choices
from engine.camelot.camelot import Camelot
from engine.camelot.choices import Choice, Verb, card_choice, resolve
from engine.camelot.pieces import BLACK, CARD_FIGURES, WHITE, Phase, Standing
from engine.core.decisions import Question

EVIL = frozenset({Verb.DRAW_BLACK, Verb.ADD_ENGINE, Verb.LOSE_LIFE, Verb.PEEK})
HEROIC = frozenset(
    {
        *(Verb.MOVE, Verb.DRAW_WHITE, Verb.FIGHT_ENGINE, Verb.PLACE_FIGHT, Verb.MOVE_EXCALIBUR, Verb.PLACE_GRAIL),
        *(Verb.PLAY, Verb.PLAY_FREE, Verb.HEAL, Verb.ACCUSE, Verb.SACRIFICE, Verb.EXCHANGE, Verb.RIDE, Verb.REVEAL),
        Verb.END_TURN,
    }
)
ANY_RULE = ""
"""Several rules have players choose among cards; which one it is, only the question tells."""


def every_choice() -> Iterator[Choice]:
    """All choices that are made once; to pass and to volunteer mean nothing outside their questions."""
    for made in vars(choices).values():
        if isinstance(made, Choice):
            yield made
        elif isinstance(made, dict):
            yield from (choice for choice in made.values() if isinstance(choice, Choice))
    for card in (*WHITE, *BLACK):
        for copy in range(CARD_FIGURES[card].copies):
            yield card_choice(ANY_RULE, card, copy)
    for card in BLACK:
        yield from (resolve(card, copy) for copy in range(2))


CHOICES = {choice.id: choice for choice in every_choice()}


def why_not(g: Camelot, seat: int, candidate: str, asked: Question[Any] | None) -> str | None:
    """By what everybody knows: whose turn it is, its phase, and who is dead or unmasked."""
    choice = CHOICES.get(candidate)
    if choice is None:
        return None
    alike = [option.rule for option in asked.options if option.verb is choice.verb] if asked is not None else []
    if alike:
        return str(alike[0])
    state = g.state
    if choice.verb in EVIL | HEROIC:
        if seat >= len(state.knights):
            return "R20.1"  # a newcomer waits for the next turn to sit down
        standing = state.knights[seat].standing
        if standing is Standing.LEFT:
            return "R20.2"
        if standing is Standing.DEAD:
            return "R3.4"
        if state.active != seat:
            return "R3.3"
        if standing is Standing.UNMASKED:
            return "R15.2"
        in_evil = state.phase in (Phase.EVIL, Phase.TRAITOR)
        if in_evil != (choice.verb in EVIL) or state.phase is Phase.SHARING:
            return "R3.1"
    return choice.rule or None
