"""Another deal that looks the same to a seat: the measure of what views and events may tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.camelot import events
from engine.camelot.camelot import Camelot
from engine.camelot.pieces import COMBATS, Card, Phase
from engine.core.chance import Chance
from engine.core.events import Event

COMBAT_BACKS = (
    range(Card.BLACK_KNIGHT_1, Card.BLACK_KNIGHT_7 + 1),
    range(Card.LANCELOT_DRAGON_1_5, Card.LANCELOT_DRAGON_7_11 + 1),
)
"""A card face down on a quest is known to be one of these, by the quest it lies on."""

REVEALING: frozenset[type[Event]] = frozenset(
    {
        events.BlackCardPeeked,
        events.BlackCardsDrawn,
        events.BlackCardRead,
        events.BlackCardsRevealed,
        events.CardsGiven,
        events.CardsPooled,
        events.CardsShared,
        events.DrawerReplaced,
        events.GameEnded,
        events.LoyaltySeen,
        events.LoyaltyShown,
        events.TraitorUnmasked,
        events.WhiteCardsDrawn,
    }
)
"""By these a rule shows a hidden card or loyalty to those who see them, or they follow from one (the end of a game)."""


def redeal(g: Camelot, seat: int | None, chance: Chance) -> None:
    """Rearranges white cards, black cards and loyalties that the seat cannot know; sizes and public facts stay."""
    state = g.state
    viewer = g.knight_at(seat)
    white = [state.white_pile, state.white_discards]
    white += [knight.hand for knight in state.knights if knight is not viewer]
    if state.pool is not None and not state.pool.public and seat not in state.pool.sharers:
        white.append(state.pool.cards)
    rearrange(white, chance)
    for knight in state.knights:
        knight.hand[:] = bytes(sorted(knight.hand))

    pile = state.black_pile
    bottom = viewer.known_bottom if viewer is not None else 0
    top = max(bottom, len(pile) - viewer.known_top) if viewer is not None else len(pile)
    unknown = pile[bottom:top]
    for backs in COMBAT_BACKS:
        rearrange_face_down(g, seat, [unknown, state.black_discards], backs, chance)
    rearrange([unknown, state.black_discards], chance)
    pile[bottom:top] = unknown

    if state.phase is not Phase.OVER:
        hidden = [k for k in state.knights if not k.shown and not (k is viewer and g.knows_loyalty(k))]
        loyalties = bytearray(knight.traitor for knight in hidden) + state.spare_loyalty
        chance.shuffle(loyalties)
        for knight in hidden:
            knight.traitor = bool(loyalties.pop())
        state.spare_loyalty[:] = loyalties


def rearrange(zones: Sequence[bytearray], chance: Chance) -> None:
    """Shuffles cards across zones; each zone keeps its size."""
    cards = bytearray().join(zones)
    chance.shuffle(cards)
    start = 0
    for zone in zones:
        zone[:] = cards[start : start + len(zone)]
        start += len(zone)


def rearrange_face_down(g: Camelot, seat: int | None, zones: Iterable[bytearray], backs: range, chance: Chance) -> None:
    """Exchanges unknown face-down cards with cards of the same back elsewhere."""
    bit = 0 if seat is None else 1 << seat
    laid = [
        card
        for quest in COMBATS
        for card in g.state.combat(quest).black
        if card.face_down and not card.seen & bit and card.card in backs
    ]
    places = [(zone, place) for zone in zones for place, card in enumerate(zone) if card in backs]
    cards = [card.card for card in laid] + [zone[place] for zone, place in places]
    chance.shuffle(cards)
    for card in laid:
        card.card = cards.pop()
    for zone, place in places:
        zone[place] = cards.pop()
