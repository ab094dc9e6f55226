"""What special white cards do (section 12.3)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from engine.camelot import events
from engine.camelot.camelot import Camelot
from engine.camelot.choices import (
    FOR_ME,
    FOR_OTHERS,
    HEROISM_ON,
    KNIGHT,
    RETURN,
    STAY,
    TARGET_CARD,
    TARGET_ENGINE,
    TARGET_WARRIOR,
    Choice,
    Verb,
    card_choice,
)
from engine.camelot.evil import discard_own, look_at_black, own_cards
from engine.camelot.life import gain_life
from engine.camelot.pieces import CARD_FIGURES, COMBATS, QUESTS, WARS, Card, Place, Standing
from engine.camelot.quests import move_excalibur, remove_from_row
from engine.camelot.sharing import share_reward
from engine.camelot.state import Knight
from engine.camelot.traitor import unmask
from engine.core.decisions import Offer, Script, Withdrawn, ask, ask_several


def play_special(g: Camelot, knight: Knight, card: Card) -> Script:
    """Plays a special white card; it is discarded after its effect, Heroism with its quest (R6.20)."""
    knight.hand.remove(card)
    g.state.played = card
    g.tell(events.WhiteCardPlayed(knight.seat, card, rule="R6.20"))
    with suppress(Withdrawn):  # The player has left, or the knight whom he meant.
        yield from EFFECTS[card](g, knight)
    if g.state.played:
        g.state.white_discards.append(card)
        g.state.played = 0


def merlin(g: Camelot, knight: Knight) -> Script:
    """W3: removes an engine, the standard black card placed last on a quest, or a warrior."""
    state = g.state
    targets: list[Choice] = [TARGET_ENGINE] if state.engines else []
    targets += [TARGET_CARD[quest] for quest in COMBATS if state.combat(quest).black]
    if state.despairs:
        targets.append(TARGET_CARD[Place.GRAIL])
    targets += [TARGET_WARRIOR[war] for war in WARS if state.war(war).warriors]
    if not targets:
        return
    target = yield from ask(knight.seat, "merlin", targets)
    if target is TARGET_ENGINE:
        g.remove_engine("W3")
    elif target.place in WARS:
        war = state.war(target.place)
        war.warriors -= 1
        g.tell(events.WarriorRemoved(target.place, war.warriors, rule="W3"))
    elif target.place == Place.GRAIL:
        remove_from_row(g, state.despairs[-1], "W3")
    else:
        laid = state.combat(target.place).black.pop()
        state.black_discards.append(laid.card)
        slot = len(state.combat(target.place).black)
        full = events.BlackCardRemoved(target.place, slot, Card(laid.card), rule="W3")
        if laid.face_down:
            g.tell_knowing(laid.seen, full, events.BlackCardRemoved(target.place, slot, rule="W3"))
        else:
            g.tell(full)


def clairvoyance(g: Camelot, knight: Knight) -> Script:
    """W4: looks at the top black cards and puts them back in any order."""
    look = CARD_FIGURES[Card.CLAIRVOYANCE].params.look
    pile = g.state.black_pile
    number = min(look, len(pile))
    if not number:
        return
    look_at_black(g, knight, number, "W4")
    seen = [Card(card) for card in reversed(pile[-number:])]
    options = [card_choice("W4", card, seen[:place].count(card)) for place, card in enumerate(seen)]
    picked = yield from ask_several(
        knight.seat, "arrange_black_cards", options, least=number, most=number, ordered=True
    )
    arranged = tuple(choice.card for choice in picked)
    pile[-number:] = bytes(reversed(arranged))
    for other in g.state.knights:
        if other is not knight:
            other.known_top = 0
    full = events.BlackCardsArranged(knight.seat, number, arranged, rule="W4")
    g.tell_some(events.BlackCardsArranged(knight.seat, number, rule="W4"), {knight.seat: full})


def convocation(g: Camelot, knight: Knight) -> Script:
    """W5: knights may return to Camelot; those gathered there share a card each."""
    for other in g.living(knight.seat):
        if other.place in (Place.CAMELOT, Place.NOWHERE):
            continue
        if g.options.convocation_return == "must":
            g.move(other, Place.CAMELOT, "W5")
        elif g.gains_cards(other):
            try:
                choice = yield from ask(other.seat, "convocation", [STAY, RETURN])
            except Withdrawn:
                continue
            if choice is RETURN:
                g.move(other, Place.CAMELOT, "W5")
    gathered = [other for other in g.living(knight.seat) if other.place == Place.CAMELOT and g.gains_cards(other)]
    number = len(gathered) * CARD_FIGURES[Card.CONVOCATION].params.draw_per_gathered_knight
    yield from share_reward(g, number, gathered, knight.seat, "W5")


def fate(g: Camelot, knight: Knight) -> Script:
    """W6: a loyal knight has everybody draw; the traitor must reveal himself and everybody else discards."""
    figures = CARD_FIGURES[Card.FATE].params
    if not g.knows_loyalty(knight):
        knight.looked = True
        seen = events.LoyaltySeen(knight.seat, knight.traitor, rule="W6")
        g.tell_some(events.LoyaltySeen(knight.seat, rule="W6"), {knight.seat: seen})
    if not knight.traitor:
        for other in g.living(knight.seat):
            if g.gains_cards(other):
                g.draw_to_hand(other, figures.loyal_draw_each, "W6")
        return
    unmask(g, knight, "W6")
    others = [other for other in g.living(knight.seat) if other.hand]
    yield from discard_own(g, others, figures.traitor_discard_each_other, "W6")


def heroism(g: Camelot, knight: Knight) -> Script:
    """W7: lies beside a quest in play; its end brings one more sword."""
    target = yield from ask(knight.seat, "heroism", [HEROISM_ON[quest] for quest in QUESTS if g.in_play(quest)])
    g.state.heroism = target.place
    g.state.played = 0
    g.tell(events.LastingCardBegan(Card.HEROISM, target.place, rule="W7"))


def lady_of_the_lake(g: Camelot, knight: Knight) -> Script:
    """W8: Excalibur moves towards the knights; its quest over, the player gains life."""
    figures = CARD_FIGURES[Card.LADY_OF_THE_LAKE].params
    if g.in_play(Place.EXCALIBUR):
        yield from move_excalibur(g, figures.steps, knight, "W8")
    else:
        gain_life(g, knight, figures.life_if_quest_over, "W8")


def messenger(g: Camelot, knight: Knight) -> Script:
    """W9: gives cards to another knight; nothing comes back."""
    figures = CARD_FIGURES[Card.MESSENGER].params
    if not knight.hand:
        return

    def receivers(offer: Offer[Choice]) -> None:
        for other in g.hale(knight.seat):
            if other is not knight:
                offer(KNIGHT[other.seat])

    def gifts(offer: Offer[Choice]) -> None:
        if receiver.standing is Standing.ALIVE:
            for card in own_cards(knight, "W9"):
                offer(card)

    if len(g.hale(knight.seat)) < 2:
        return
    receiver = g.state.knights[(yield from ask(knight.seat, "messenger", receivers)).seat]
    most = min(figures.give_max, len(knight.hand))
    picked = yield from ask_several(knight.seat, "messenger_cards", gifts, least=min(figures.give_min, most), most=most)
    cards = bytes(choice.card for choice in picked)
    for card in cards:
        knight.hand.remove(card)
    g.pass_cards(knight, receiver, cards, "W9")


def piety(g: Camelot, knight: Knight) -> Script:
    """W10."""
    figures = CARD_FIGURES[Card.PIETY].params
    choice = yield from ask(knight.seat, "piety", [FOR_ME["W10"], FOR_OTHERS["W10"]])
    if choice.verb is Verb.FOR_ME:
        gain_life(g, knight, figures.life_self, "W10")
        return
    for other in g.hale(knight.seat):
        if other is not knight:
            gain_life(g, other, figures.life_each_other, "W10")


def reinforcements(g: Camelot, knight: Knight) -> Script:
    """W11."""
    figures = CARD_FIGURES[Card.REINFORCEMENTS].params
    choice = yield from ask(knight.seat, "reinforcements", [FOR_ME["W11"], FOR_OTHERS["W11"]])
    if choice.verb is Verb.FOR_ME:
        g.draw_to_hand(knight, figures.draw_self, "W11")
        return
    for other in g.hale(knight.seat):
        if other is not knight:
            g.draw_to_hand(other, figures.draw_each_other, "W11")


EFFECTS: dict[Card, Callable[[Camelot, Knight], Script]] = {
    Card.MERLIN: merlin,
    Card.CLAIRVOYANCE: clairvoyance,
    Card.CONVOCATION: convocation,
    Card.FATE: fate,
    Card.HEROISM: heroism,
    Card.LADY_OF_THE_LAKE: lady_of_the_lake,
    Card.MESSENGER: messenger,
    Card.PIETY: piety,
    Card.REINFORCEMENTS: reinforcements,
}
