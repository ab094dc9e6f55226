"""Squires: who begins as one, and how a won quest makes one a knight (R20.3, R20.9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.camelot import events
from engine.camelot.camelot import Camelot
from engine.camelot.choices import (
    ACCEPT_SQUIRE,
    AS_KNIGHT,
    AS_SQUIRE,
    DECLINE_SQUIRE,
    KNIGHT_SQUIRE,
    Choice,
)
from engine.camelot.pieces import FIGURES, Coat
from engine.camelot.sharing import refusing
from engine.camelot.state import Knight
from engine.core.decisions import Offer, Script, Withdrawn, ask, ask_all, question

Squires = Callable[[], list[Knight]]
"""Those who can be knighted, as it stands when it is called."""


def challenge(g: Camelot) -> Script:
    """Each player begins as a squire, or as a knight with what a knight has more."""
    answers = yield from ask_all(question(knight.seat, "challenge", [AS_SQUIRE, AS_KNIGHT]) for knight in g.living())
    for knight in g.living():
        if answers[knight.seat][0] is AS_KNIGHT:
            g.give_coat(knight, "R2.2")
            knight.life = FIGURES.life_start
            g.draw_to_hand(knight, FIGURES.opening_white_cards - g.options.squire_start_cards, "R2.6")
    squires = tuple(knight.seat for knight in g.living() if knight.coat is Coat.NONE)
    g.tell(events.SquiresNamed(squires, rule="R20.3"))


def knight_a_squire(g: Camelot, there: Sequence[Knight], ender: Knight) -> Script:
    """Exactly one of the squires on a won quest becomes a knight."""

    def squires() -> list[Knight]:
        return [knight for knight in there if knight.coat is Coat.NONE and g.gains_cards(knight)]

    if not squires():
        return
    chosen = yield from agree(g, squires, ender)
    if chosen is None and squires():
        candidates = squires()
        chosen = next(knight for knight in g.clockwise(ender.seat) if knight in candidates)
    if chosen is not None:
        g.give_coat(chosen, "R20.3")


def agree(g: Camelot, squires: Squires, ender: Knight) -> Script:
    """The squire whom one proposes and all others accept; None without agreement, or with no choice."""
    while len(squires()) > 1:
        proposed = yield from propose(g, squires, ender)
        if proposed is not None:
            chosen, agreed = proposed
            return chosen if agreed else None
    return None


def propose(g: Camelot, squires: Squires, ender: Knight) -> Script:
    """One proposal: the squire, and whether all agree; None if the proposer or that squire leaves meanwhile (R20.7)."""

    def candidates(offer: Offer[Choice]) -> None:
        able = squires()
        if len(able) > 1:
            for knight in able:
                offer(KNIGHT_SQUIRE[knight.seat])

    proposer = g.living(ender.seat)[0]
    try:
        choice = yield from ask(proposer.seat, "propose_squire", candidates, prefer=[KNIGHT_SQUIRE[ender.seat]])
    except Withdrawn:
        return None
    g.tell(events.SquireProposed(proposer.seat, choice.seat, rule="R20.9"))
    chosen = g.state.knights[choice.seat]
    answers = yield from ask_all(
        (
            question(knight.seat, "accept_squire", [ACCEPT_SQUIRE, DECLINE_SQUIRE])
            for knight in g.living(ender.seat)
            if knight is not proposer
        ),
        settled=lambda answers: bool(refusing(answers)) or chosen not in squires(),
    )
    if chosen not in squires():
        return None
    refused = refusing(answers)
    g.tell(events.ProposalAnswered(not refused, refused, rule="R20.9"))
    return chosen, not refused
