"""Life, death and the Holy Grail (section 13)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from engine.camelot import events
from engine.camelot.camelot import Camelot, GameEnds
from engine.camelot.choices import SAVE, Choice, Verb, passing
from engine.camelot.pieces import FIGURES, RELIC_FIGURES, Ending, Place, Relic, Standing
from engine.camelot.state import Knight
from engine.core.decisions import Offer, Script, Withdrawn, ask


def gain_life(g: Camelot, knight: Knight, points: int, rule: str) -> None:
    """Never above the maximum (R13.1), and nothing for a knight at 0 (R13.11)."""
    if not knight.life:
        return
    before = knight.life
    knight.life = min(FIGURES.life_max, before + points)
    g.tell(events.LifeChanged(knight.seat, knight.life - before, knight.life, rule=rule))


def lose_life(g: Camelot, knights: Sequence[Knight], points: int, rule: str) -> Script:
    """Each loses the same; whoever falls to 0 may be saved by the Grail at once (R13.3)."""
    fallen = []
    for knight in knights:
        before = knight.life
        if not before:
            continue
        knight.life = max(FIGURES.life_min, before - points)
        g.tell(events.LifeChanged(knight.seat, knight.life - before, knight.life, rule=rule))
        if not knight.life:
            fallen.append(knight)
    if fallen:
        yield from offer_grail(g, fallen)


def offer_grail(g: Camelot, fallen: Sequence[Knight]) -> Script:
    """The Grail's owner may save one of those who have just fallen to 0 (R9.4, R13.8)."""
    owner = g.owner(Relic.HOLY_GRAIL)
    if owner is None:
        return
    try:
        choice = yield from ask(owner.seat, "holy_grail", partial(savable, fallen))
    except Withdrawn:
        return
    if choice.verb is Verb.PASS:
        return
    saved = g.state.knights[choice.seat]
    saved.life = RELIC_FIGURES[Relic.HOLY_GRAIL].life
    g.tell(events.GrailDrunk(owner.seat, saved.seat, saved.life, rule="R9.4"))
    g.lose_relic(Relic.HOLY_GRAIL, "R9.4")


def savable(fallen: Sequence[Knight], offer: Offer[Choice]) -> None:
    here = [knight for knight in fallen if knight.standing is Standing.ALIVE]
    if here:
        offer(passing("R9.4"))
    for knight in fallen:
        offer(SAVE[knight.seat], ("R20.2", knight in here))


def bury_the_dead(g: Camelot) -> None:
    """At the end of a turn the knights at 0 leave the game (R13.2); raises `GameEnds` if no loyal one lives."""
    died = False
    for knight in g.living():
        if not knight.life:
            remove_dead(g, knight)
            died = True
    if died:
        check_loyal_live(g)


def check_loyal_live(g: Camelot) -> None:
    if all(knight.traitor for knight in g.living()):
        raise GameEnds(Ending.ALL_DEAD, "R16.1")


def remove_dead(g: Camelot, knight: Knight) -> None:
    knight.standing = Standing.DEAD
    g.tell(events.KnightDied(knight.seat, len(knight.hand), rule="R13.2"))
    clear_away(g, knight, "R13.2")


def leave(g: Camelot, knight: Knight) -> None:
    """Like death, but at once and past saving (R20.2); raises `GameEnds` if no loyal knight is left (R20.7)."""
    knight.standing = Standing.LEFT
    knight.life = 0
    g.tell(events.KnightLeft(knight.seat, len(knight.hand), rule="R20.2"))
    clear_away(g, knight, "R20.2")
    pool = g.state.pool
    if pool is not None and knight.seat in pool.sharers:
        # His share goes to the others, who begin a new proposal.
        pool.sharers = tuple(seat for seat in pool.sharers if seat != knight.seat)
        pool.proposed.clear()
    check_loyal_live(g)


def clear_away(g: Camelot, knight: Knight, rule: str) -> None:
    g.discard_hand(knight)
    knight.known_top = knight.known_bottom = 0
    g.move(knight, Place.NOWHERE, rule)
    for relic in Relic:
        if g.owner(relic) is knight:
            g.lose_relic(relic, "R9.5" if relic is Relic.HOLY_GRAIL else rule)
