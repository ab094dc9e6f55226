"""The unmasked traitor (section 15)."""

from __future__ import annotations

from engine.camelot import events
from engine.camelot.camelot import Camelot
from engine.camelot.choices import ADD_ENGINE, DRAW_BLACK, TAUNT, Choice
from engine.camelot.evil import draw_and_resolve
from engine.camelot.life import remove_dead
from engine.camelot.pieces import FIGURES, Card, Place, Relic, Standing
from engine.camelot.state import Knight
from engine.core.decisions import Offer, Script, Withdrawn, ask


def unmask(g: Camelot, knight: Knight, rule: str) -> None:
    """Hand, figure, life, Excalibur and Grail are gone, the Armor stays; in his own turn it ends (R15.1, R15.7, R9.6).

    At 0 life he dies all the same, his card face up (R15.8).
    """
    knight.shown = True
    dying = knight.doomed
    g.tell(events.TraitorUnmasked(knight.seat, len(knight.hand), rule=rule))
    if knight.seat == g.state.active:
        g.state.turn.ends = True
    if dying:
        remove_dead(g, knight)
        return
    knight.standing = Standing.UNMASKED
    knight.life = 0
    g.discard_hand(knight)
    g.move(knight, Place.NOWHERE, "R15.1")
    for relic in (Relic.EXCALIBUR, Relic.HOLY_GRAIL):
        if g.owner(relic) is knight:
            g.lose_relic(relic, "R9.6")


def traitors_turn(g: Camelot) -> Script:
    """A taunt, then a black card or an engine; no heroic actions (R15.2)."""
    traitor = g.active
    if g.options.unmasked_traitor_steals_card:
        yield from taunt(g, traitor)
    if traitor.standing is Standing.LEFT:
        return
    choice = yield from ask(traitor.seat, "traitors_evil", [DRAW_BLACK, ADD_ENGINE])
    if choice is DRAW_BLACK:
        yield from draw_and_resolve(g, traitor)
    else:
        g.add_engines(1, "R15.2")


def taunt(g: Camelot, traitor: Knight) -> Script:
    """A random card of a knight of his choice is discarded, unseen by him."""

    def targets(offer: Offer[Choice]) -> None:
        for knight in g.hale():
            if knight.hand:
                offer(TAUNT[knight.seat])

    if not any(knight.hand for knight in g.hale()):
        return
    try:
        choice = yield from ask(traitor.seat, "taunt", targets)
    except Withdrawn:
        return
    victim = g.state.knights[choice.seat]
    for _ in range(FIGURES.taunt_cards):
        card: Card = g.chance.choice(victim.hand)
        g.discard(victim, bytes([card]), "R15.2")
