"""What must hold in every state of play."""

from __future__ import annotations

from collections.abc import Iterator

from engine.camelot.camelot import Camelot
from engine.camelot.pieces import (
    BLACK,
    COMBATS,
    FIGHTS,
    FIGURES,
    QUEST_FIGURES,
    SOLO,
    WARS,
    WHITE,
    Card,
    Coat,
    Phase,
    Standing,
)
from engine.camelot.quests import EVIL_CARDS, run_needed
from engine.camelot.turns import deck


def faults(g: Camelot) -> Iterator[str]:
    """Each broken invariant, in words."""
    state = g.state
    if sorted(white_cards(g)) != sorted(deck(WHITE)):
        yield "white cards are lost or doubled"
    if sorted(black_cards(g)) != sorted(deck(BLACK)):
        yield "black cards are lost or doubled"
    if g.swords > FIGURES.swords_total or min(state.white_swords, state.black_swords) < 0:
        yield f"{state.white_swords} white and {state.black_swords} black swords"
    if not 0 <= state.engines <= FIGURES.engines_total:
        yield f"{state.engines} engines"
    for war in WARS:
        if not 0 <= state.war(war).warriors <= QUEST_FIGURES[war].warriors:
            yield f"{state.war(war).warriors} warriors on {war.title}"
    coats = [knight.coat for knight in state.knights if knight.coat] + [Coat(coat) for coat in state.spare_coats]
    if sorted(coats) != [coat for coat in Coat if coat]:
        yield "coats of arms are lost or doubled"
    for knight in state.knights:
        if not FIGURES.life_min <= knight.life <= FIGURES.life_max:
            yield f"seat {knight.seat} has {knight.life} life"
        gone = knight.standing is not Standing.ALIVE
        if gone and (knight.hand or knight.place or knight.life):
            yield f"seat {knight.seat} is gone but has a hand, a place or life"
        if not gone and knight.life and not g.in_play(knight.place):
            yield f"seat {knight.seat} stands nowhere in play"
        if list(knight.hand) != sorted(knight.hand):
            yield f"the hand of seat {knight.seat} is not sorted"
        if max(knight.known_top, knight.known_bottom) > len(state.black_pile):
            yield f"seat {knight.seat} knows more black cards than the pile has"
    for quest in SOLO:
        if len(g.present(quest)) > 1:
            yield f"more than one knight on {quest.title}"
    for quest in COMBATS:
        combat = state.combat(quest)
        if len(combat.black) > QUEST_FIGURES[quest].black_slots:
            yield f"too many black cards on {quest.title}"
        for group, size in zip(combat.white, QUEST_FIGURES[quest].groups, strict=True):
            if len(group) > size or len(set(group)) > 1:
                yield f"a group of unequal or too many cards on {quest.title}"
    despairs = [slot for slot, card in enumerate(state.grail) if card == Card.DESPAIR]
    if sorted(state.despairs) != despairs:
        yield "the order of the Despairs does not match the row"
    if state.phase is not Phase.OVER and (state.engines >= FIGURES.engines_defeat or over_black(g)):
        yield "the game should be over"


def over_black(g: Camelot) -> bool:
    return g.state.black_swords >= FIGURES.black_swords_defeat


def white_cards(g: Camelot) -> bytearray:
    """Every white card, wherever it is."""
    state = g.state
    cards = state.white_pile + state.white_discards
    for knight in state.knights:
        cards += knight.hand
    for quest in COMBATS:
        for group in state.combat(quest).white:
            cards += group
    cards += bytes(card for card in state.grail if card == Card.GRAIL)
    for war in WARS:
        cards += bytes(FIGHTS[value - 1] for value in run_needed(g, war)[: state.war(war).run])
    if state.pool is not None:
        cards += state.pool.cards
    if state.played:
        cards.append(state.played)
    if state.heroism:
        cards.append(Card.HEROISM)
    return cards


def black_cards(g: Camelot) -> bytearray:
    """Every black card, wherever it is."""
    state = g.state
    cards = state.black_pile + state.black_discards
    for quest in COMBATS:
        cards += bytes(laid.card for laid in state.combat(quest).black)
    cards += bytes(card for card in state.grail if card in EVIL_CARDS)
    cards += bytes(drawn.card for drawn in state.drawn)
    lasting = (
        (Card.VIVIEN, state.vivien),
        (Card.DARK_FOREST, state.dark_forest),
        (Card.MISTS_OF_AVALON, state.mists),
    )
    for card, copies in lasting:
        cards += bytes([card] * int(copies))
    cards += bytes([Card.MORDRED] * sum(state.war(war).mordred for war in WARS))
    return cards
