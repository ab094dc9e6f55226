"""What a seat may know of a game (R18.3), and what it cannot."""

from __future__ import annotations

import msgspec

from engine.camelot.camelot import Camelot
from engine.camelot.pieces import (
    COMBATS,
    FIGHT_VALUE,
    QUEST_FIGURES,
    WARS,
    Card,
    Coat,
    Ending,
    Phase,
    Place,
    Relic,
    Standing,
)
from engine.camelot.quests import run_needed
from engine.camelot.state import Knight, State

Cards = tuple[Card, ...]


class KnightView(msgspec.Struct, frozen=True):
    seat: int
    coat: Coat
    """NONE for a squire."""
    life: int
    place: Place
    standing: Standing
    hand_size: int
    accusation_used: bool
    loyalty_shown: bool
    traitor: bool | None
    """None where the viewer may not know."""
    relics: tuple[Relic, ...]
    joined: bool
    """Came in mid-game."""


class BlackCardView(msgspec.Struct, frozen=True):
    face_down: bool
    card: Card
    """UNKNOWN where the viewer may not know."""


class CombatView(msgspec.Struct, frozen=True):
    place: Place
    in_play: bool
    groups: tuple[Cards, ...]
    group_sizes: tuple[int, ...]
    white: int
    """Sum of the white cards."""
    black: tuple[BlackCardView, ...]
    black_slots: int


class WarView(msgspec.Struct, frozen=True):
    place: Place
    run: int
    """Fight cards laid."""
    needed: tuple[int, ...]
    """Values of the whole run."""
    warriors: int
    warriors_to_lose: int
    mordred: bool


class TurnView(msgspec.Struct, frozen=True):
    active: int
    phase: Phase
    turns: int
    actions: int
    sacrificed: bool
    types: tuple[str, ...]
    """Action types used up."""


class PoolView(msgspec.Struct, frozen=True):
    number: int
    sharers: tuple[int, ...]
    cards: Cards
    proposed: tuple[int, ...]
    """Seat for each card so far; empty where the viewer may not see the cards."""


class DrawnView(msgspec.Struct, frozen=True):
    drawer: int
    card: Card


class PrivateView(msgspec.Struct, frozen=True):
    """What the viewer's own seat knows besides."""

    hand: Cards
    known_top: Cards
    """Black pile, top first."""
    known_bottom: Cards
    """Black pile, bottom first."""


class CamelotView(msgspec.Struct, frozen=True):
    turn: TurnView
    order: tuple[int, ...]
    knights: tuple[KnightView, ...]
    white_swords: int
    black_swords: int
    engines: int
    white_pile: int
    black_pile: int
    white_discards: int
    black_discards: int
    combats: tuple[CombatView, ...]
    excalibur_in_play: bool
    excalibur: int
    excalibur_steps: int
    grail_in_play: bool
    grail: Cards
    """The row from the Grail outward; UNKNOWN is an empty slot."""
    wars: tuple[WarView, ...]
    heroism: Place
    vivien: bool
    dark_forest: bool
    mists: int
    drawn: tuple[DrawnView, ...]
    pool: PoolView | None
    private: PrivateView | None
    ending: Ending | None
    arriving: tuple[int, ...]
    """Seats of newcomers who sit down when the turn is over."""


def view(g: Camelot, seat: int | None) -> CamelotView:
    state = g.state
    viewer = g.knight_at(seat)
    return CamelotView(
        turn=TurnView(
            state.active,
            state.phase,
            state.turns,
            state.turn.actions,
            state.turn.sacrificed,
            tuple(kind for bit, kind in ACTION_TYPES.items() if state.turn.types & bit),
        ),
        order=tuple(state.order),
        knights=tuple(knight_view(g, knight, viewer) for knight in state.knights),
        white_swords=state.white_swords,
        black_swords=state.black_swords,
        engines=state.engines,
        white_pile=len(state.white_pile),
        black_pile=len(state.black_pile),
        white_discards=len(state.white_discards),
        black_discards=len(state.black_discards),
        combats=tuple(combat_view(g, quest, viewer) for quest in COMBATS),
        excalibur_in_play=g.in_play(Place.EXCALIBUR),
        excalibur=state.excalibur,
        excalibur_steps=QUEST_FIGURES[Place.EXCALIBUR].track_spaces - 1,
        grail_in_play=g.in_play(Place.GRAIL),
        grail=tuple(map(Card, state.grail)),
        wars=tuple(war_view(g, war) for war in WARS),
        heroism=state.heroism,
        vivien=state.vivien,
        dark_forest=state.dark_forest,
        mists=state.mists,
        drawn=tuple(
            DrawnView(drawn.drawer, Card(drawn.card) if knows(viewer, drawn.seen) else Card.UNKNOWN)
            for drawn in state.drawn
        ),
        pool=pool_view(state, seat),
        private=None if viewer is None else private_view(state, viewer),
        ending=Ending(state.ending) if state.ending else None,
        arriving=tuple(g.arrivals),
    )


ACTION_TYPES = {1: "move", 2: "quest", 4: "special", 8: "heal", 16: "accuse"}


def knows(viewer: Knight | None, seen: int) -> bool:
    return viewer is not None and bool(seen & 1 << viewer.seat)


def knight_view(g: Camelot, knight: Knight, viewer: Knight | None) -> KnightView:
    open_to_viewer = knight.shown or g.state.phase is Phase.OVER or (knight is viewer and g.knows_loyalty(knight))
    return KnightView(
        knight.seat,
        knight.coat,
        knight.life,
        knight.place,
        knight.standing,
        len(knight.hand),
        knight.accused,
        knight.shown,
        knight.traitor if open_to_viewer else None,
        tuple(relic for relic in Relic if g.owner(relic) is knight),
        knight.joined,
    )


def combat_view(g: Camelot, quest: Place, viewer: Knight | None) -> CombatView:
    combat = g.state.combat(quest)
    return CombatView(
        quest,
        g.in_play(quest),
        tuple(tuple(map(Card, group)) for group in combat.white),
        QUEST_FIGURES[quest].groups,
        sum(FIGHT_VALUE[card] for group in combat.white for card in group),
        tuple(
            BlackCardView(
                laid.face_down,
                Card(laid.card) if not laid.face_down or knows(viewer, laid.seen) else Card.UNKNOWN,
            )
            for laid in combat.black
        ),
        QUEST_FIGURES[quest].black_slots,
    )


def war_view(g: Camelot, place: Place) -> WarView:
    war = g.state.war(place)
    return WarView(place, war.run, run_needed(g, place), war.warriors, QUEST_FIGURES[place].warriors, war.mordred)


def pool_view(state: State, seat: int | None) -> PoolView | None:
    pool = state.pool
    if pool is None:
        return None
    if pool.public or seat in pool.sharers:
        return PoolView(len(pool.cards), pool.sharers, tuple(map(Card, pool.cards)), tuple(pool.proposed))
    return PoolView(len(pool.cards), pool.sharers, (), ())


def private_view(state: State, viewer: Knight) -> PrivateView:
    pile = state.black_pile
    top = pile[len(pile) - viewer.known_top :]
    return PrivateView(
        tuple(map(Card, viewer.hand)),
        tuple(map(Card, reversed(top))),
        tuple(map(Card, pile[: viewer.known_bottom])),
    )
