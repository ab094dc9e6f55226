"""The Progression of Evil and what black cards do (sections 4, 5, 7 and 12.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from engine.camelot import events
from engine.camelot.camelot import Camelot
from engine.camelot.choices import (
    ADD_ENGINE,
    DRAW_BLACK,
    FACE_DOWN,
    FACE_UP,
    GIVE_UP_EXCALIBUR,
    LOSE_LIFE,
    PEEK,
    PLEDGE,
    SEND_TO,
    Choice,
    Verb,
    card_choice,
    passing,
    resolve,
    volunteering,
)
from engine.camelot.life import lose_life
from engine.camelot.pieces import (
    CARD_FIGURES,
    FIGURES,
    RELIC_FIGURES,
    SPECIAL_BLACK,
    Card,
    Coat,
    Place,
    Relic,
    Standing,
)
from engine.camelot.quests import (
    add_warrior,
    check_row,
    lay_black,
    lay_despair,
    move_excalibur,
    put_on_row,
    remove_grail_card,
)
from engine.camelot.state import Drawn, Knight, Laid
from engine.core.decisions import Answers, Script, Withdrawn, ask, ask_all, question


def progression_of_evil(g: Camelot) -> Script:
    """Phase 1: exactly one of three options, Percival's look before it (R3.1, R4.1, R4.5)."""
    knight = g.active
    if knight.coat is Coat.PERCIVAL and g.state.black_pile:
        yield from percival_looks(g, knight)
    choice = yield from ask(knight.seat, "progression_of_evil", [DRAW_BLACK, ADD_ENGINE, LOSE_LIFE])
    if choice is DRAW_BLACK:
        yield from draw_and_resolve(g, knight)
    elif choice is ADD_ENGINE:
        g.add_engines(1, "R4.3")
    else:
        yield from lose_life(g, [knight], 1, "R4.4")


def percival_looks(g: Camelot, knight: Knight) -> Script:
    choice = yield from ask(knight.seat, "percival_power", [PEEK, passing("R14.6")], prefer=[passing("R14.6")])
    if choice is PEEK:
        look_at_black(g, knight, 1, "R14.6")


def look_at_black(g: Camelot, knight: Knight, number: int, rule: str) -> None:
    """The knight sees the top cards; that he looked is public."""
    pile = g.state.black_pile
    number = min(number, len(pile))
    knight.known_top = max(knight.known_top, number)
    cards = tuple(Card(card) for card in reversed(pile[len(pile) - number :]))
    seat = knight.seat
    g.tell_some(
        events.BlackCardPeeked(seat, number, rule=rule),
        {seat: events.BlackCardPeeked(seat, number, cards, rule=rule)},
    )


# Drawing


def draw_and_resolve(g: Camelot, drawer: Knight) -> Script:
    """Draws the top black card and carries it out; with nothing to draw an engine comes instead (R4.2, R17.3)."""
    drawn = yield from draw(g, drawer)
    if drawn is None:
        g.add_engines(1, "R17.3")
        return
    if drawn.card in SPECIAL_BLACK:
        yield from resolve_special(g, drawer, drawn)
    else:
        yield from resolve_standard(g, drawer, drawn)


def draw(g: Camelot, drawer: Knight) -> Script:
    """The card to resolve; the owner of the Armor draws two and buries one (R9.3)."""
    armor = g.owner(Relic.LANCELOTS_ARMOR) is drawer
    state = g.state
    reader = g.stand_in(drawer).seat
    resolving = len(state.drawn)
    for _ in range(RELIC_FIGURES[Relic.LANCELOTS_ARMOR].draw if armor else 1):
        card, seen = g.draw_black()
        if card:
            state.drawn.append(Drawn(card, drawer.seat, seen | 1 << reader))
    number = len(state.drawn) - resolving
    if not number:
        return None
    seat = drawer.seat
    cards = tuple(Card(drawn.card) for drawn in state.drawn[-number:])
    g.tell_some(
        events.BlackCardsDrawn(seat, number, rule="R4.2"),
        {reader: events.BlackCardsDrawn(seat, number, cards, rule="R4.2")},
    )
    if number > 1:
        yield from bury_one(g, drawer)
    return state.drawn[-1]


def bury_one(g: Camelot, drawer: Knight) -> Script:
    """Of the two cards drawn, the one not chosen goes unseen to the bottom of the pile (R9.3, R7.8)."""
    state = g.state
    first, second = state.drawn[-2:]
    options = [resolve(Card(first.card), 0), resolve(Card(second.card), int(first.card == second.card))]
    choice = yield from ask_drawer(g, drawer, "lancelots_armor", options)
    chooser = g.stand_in(drawer)
    buried = state.drawn.pop(-1 if choice is options[0] else -2)
    state.black_pile.insert(0, buried.card)
    for knight in state.knights:
        knight.known_bottom = knight.known_bottom + 1 if knight is chooser else 0
    g.tell_some(
        events.BlackCardBuried(drawer.seat, rule="R9.3"),
        {chooser.seat: events.BlackCardBuried(drawer.seat, Card(buried.card), rule="R9.3")},
    )


def ask_drawer(g: Camelot, drawer: Knight, key: str, options: Sequence[Choice]) -> Script:
    """Asks the drawer; once he has left, the next living knight clockwise, who learns what he needs to know (R20.7)."""
    while True:
        chooser = g.stand_in(drawer)
        unread = [drawn for drawn in g.state.drawn if not drawn.seen & 1 << chooser.seat]
        if unread:
            for drawn in unread:
                drawn.seen |= 1 << chooser.seat
            full = events.DrawerReplaced(
                drawer.seat, chooser.seat, tuple(Card(drawn.card) for drawn in unread), rule="R20.7"
            )
            g.tell_some(events.DrawerReplaced(drawer.seat, chooser.seat, rule="R20.7"), {chooser.seat: full})
        try:
            return (yield from ask(chooser.seat, key, options))
        except Withdrawn:
            continue


def discard_drawn(g: Camelot) -> None:
    """The card just resolved goes to the discards."""
    g.state.black_discards.append(g.state.drawn.pop().card)


# Standard cards


def resolve_standard(g: Camelot, drawer: Knight, drawn: Drawn) -> Script:
    """Announce it, let Excalibur's owner stop it, else it goes to its quest (R5.1, R7.7)."""
    card = drawn.card
    combat = card <= Card.LANCELOT_DRAGON_7_11
    quest = g.combat_in_play(card) if combat else STANDARD_QUEST[Card(card)]
    over = quest == Place.NOWHERE or not g.in_play(quest)
    if combat and not over:
        choice = yield from ask_drawer(g, drawer, "lay_black_card", [FACE_UP, FACE_DOWN])
        drawn.face_down = choice is FACE_DOWN
    announce(g, drawn, Place.NOWHERE if over else quest)
    if (yield from excalibur_stops(g, drawer)):
        return
    if over:
        discard_drawn(g)
        g.add_engines(1, "R5.2")
    elif combat:
        g.state.drawn.pop()
        gains = drawn.face_down and drawer.standing is Standing.ALIVE and g.gains_cards(drawer)
        yield from lay_black(g, quest, Laid(card, drawn.face_down, drawn.seen), drawer, after_laying=gains)
    elif card == Card.BLACK_EXCALIBUR:
        discard_drawn(g)
        yield from move_excalibur(g, -1, drawer, "R5.6")
    elif card == Card.DESPAIR:
        g.state.drawn.pop()
        yield from lay_despair(g, Card.DESPAIR, drawer)
    else:
        if card == Card.MERCENARIES:
            quest = (yield from ask_drawer(g, drawer, "mercenaries", list(SEND_TO.values()))).place
        discard_drawn(g)
        yield from add_warrior(g, quest, drawer, "R5.8")


STANDARD_QUEST = {
    Card.BLACK_EXCALIBUR: Place.EXCALIBUR,
    Card.DESPAIR: Place.GRAIL,
    Card.PICTS: Place.PICT_WAR,
    Card.SAXONS: Place.SAXON_WAR,
    Card.MERCENARIES: Place.PICT_WAR,
}
"""Where the symbol of a card that is no combat card sends it; the Mercenaries' drawer chooses between the wars."""


def announce(g: Camelot, drawn: Drawn, place: Place) -> None:
    """Reads the card aloud, all but the value of a card laid face down (R4.2)."""
    card = Card(drawn.card)
    if drawn.face_down:
        full = events.BlackCardRead(drawn.drawer, True, place, card, rule="R5.3")
        g.tell_knowing(drawn.seen, full, events.BlackCardRead(drawn.drawer, True, place, rule="R5.3"))
        return
    drawn.seen = g.everyone()
    g.tell(events.BlackCardRead(drawn.drawer, False, place, card, rule="R4.2"))


def excalibur_stops(g: Camelot, drawer: Knight) -> Script:
    """Excalibur's owner may give it up to stop the card just drawn (R7.7, R9.2)."""
    owner = g.owner(Relic.EXCALIBUR)
    if owner is None or (owner is not drawer and g.options.excalibur_cancel_drawer == "owner"):
        return False
    try:
        choice = yield from ask(owner.seat, "excalibur", [passing("R9.2"), GIVE_UP_EXCALIBUR])
    except Withdrawn:
        return False
    if choice.verb is Verb.PASS:
        return False
    drawn = g.state.drawn[-1]
    named = Card.UNKNOWN if drawn.face_down else Card(drawn.card)
    discard_drawn(g)
    g.tell(events.BlackCardCancelled(named, rule="R9.2"))
    g.lose_relic(Relic.EXCALIBUR, "R9.2")
    return True


# Special cards


def resolve_special(g: Camelot, drawer: Knight, drawn: Drawn) -> Script:
    """Read aloud; three Merlins may cancel it, else its effect runs (R7.1)."""
    announce(g, drawn, Place.NOWHERE)
    if (yield from merlins_cancel(g, drawer)):
        return
    if g.options.excalibur_cancels == "any_black" and (yield from excalibur_stops(g, drawer)):
        return
    yield from SPECIAL_EFFECTS[Card(drawn.card)](g, drawer)


def merlins_cancel(g: Camelot, drawer: Knight) -> Script:
    """Every living knight with cards may pledge Merlins; three cancel the card (R7.4 to R7.6, R7.9)."""
    needed = FIGURES.merlins_to_cancel
    able = [knight for knight in g.living(drawer.seat) if knight.hand]
    if g.state.vivien or sum(len(knight.hand) for knight in able) < needed:
        return False

    def pledged(answers: Answers) -> int:
        return sum(max(picked[0].number, 0) for picked in answers.values())

    def heard(seat: int, picked: Sequence[Choice]) -> None:
        g.tell(events.MerlinsPledged(seat, max(picked[0].number, 0), rule="R7.4"))

    answers = yield from ask_all(
        (question(knight.seat, "pledge_merlins", _pledges(knight)) for knight in able),
        heard=heard,
        settled=lambda answers: pledged(answers) >= needed,
    )
    if pledged(answers) < needed:
        return False
    used = []
    for seat, picked in answers.items():
        number = min(picked[0].number, needed)
        if number > 0:
            needed -= number
            used.append((seat, number))
    card = Card(g.state.drawn[-1].card)
    discard_drawn(g)
    g.tell(events.BlackCardCancelled(card, tuple(used), rule="R7.1"))
    for seat, number in used:
        g.discard(g.state.knights[seat], bytes([Card.MERLIN] * number), "R7.1", shown=True)
    return True


def _pledges(knight: Knight) -> Iterable[Choice]:
    merlins = min(knight.hand.count(Card.MERLIN), FIGURES.merlins_to_cancel)
    return [passing("R7.4"), *(PLEDGE[number] for number in range(1, merlins + 1))]


def dark_forest(g: Camelot, drawer: Knight) -> Script:
    """B1: no Grail card may be played on the Grail quest until it is lifted."""
    state = g.state
    if not g.in_play(Place.GRAIL):
        discard_drawn(g)
        g.add_engines(CARD_FIGURES[Card.DARK_FOREST].params.engines_if_quest_over, "B1")
    elif state.dark_forest:
        discard_drawn(g)
    else:
        state.drawn.pop()
        state.dark_forest = True
        g.tell(events.LastingCardBegan(Card.DARK_FOREST, Place.GRAIL, rule="B1"))
    yield from ()


def vivien(g: Camelot, drawer: Knight) -> Script:
    """B12: no Merlin may be played until it is lifted."""
    if g.state.vivien:
        discard_drawn(g)
    else:
        g.state.drawn.pop()
        g.state.vivien = True
        g.tell(events.LastingCardBegan(Card.VIVIEN, rule="B12"))
    yield from ()


def mists_of_avalon(g: Camelot, drawer: Knight) -> Script:
    """B5: every quest lost from now on lays one more black sword."""
    g.state.drawn.pop()
    g.state.mists += 1
    g.tell(events.LastingCardBegan(Card.MISTS_OF_AVALON, rule="B5"))
    yield from ()


def desolation(g: Camelot, drawer: Knight) -> Script:
    """B2: takes the place of the front Grail card; with none there, placed like a Despair."""
    row = g.state.grail
    front = row.rfind(Card.GRAIL)
    if not g.in_play(Place.GRAIL):
        discard_drawn(g)
        g.add_engines(CARD_FIGURES[Card.DESOLATION].params.engines_if_quest_over, "B2")
        return
    g.state.drawn.pop()
    if front < 0 or g.options.desolation_effect == "as_despair":
        yield from lay_despair(g, Card.DESOLATION, drawer)
        return
    remove_grail_card(g, front, "B2")
    put_on_row(g, Card.DESOLATION, front)
    yield from check_row(g, drawer)


def guinevere(g: Camelot, drawer: Knight) -> Script:
    """B4: every knight goes to the Round Table, and the drawer's turn ends."""
    discard_drawn(g)
    for knight in g.living(drawer.seat):
        g.move(knight, Place.CAMELOT, "B4")
    g.state.turn.ends = True
    yield from ()


def mordred(g: Camelot, drawer: Knight) -> Script:
    """B6: joins one war with a warrior of its people; that war needs a second Fight 5."""
    war = (yield from ask_drawer(g, drawer, "mordred", list(SEND_TO.values()))).place
    g.state.drawn.pop()
    g.state.war(war).mordred = True
    g.tell(events.LastingCardBegan(Card.MORDRED, war, rule="B6"))
    for _ in range(CARD_FIGURES[Card.MORDRED].params.warriors):
        yield from add_warrior(g, war, drawer, "B6")


def morgan_engines(g: Camelot, drawer: Knight) -> Script:
    """B7."""
    discard_drawn(g)
    g.add_engines(CARD_FIGURES[Card.MORGAN_ENGINES].params.engines, "B7")
    yield from ()


def morgan_three_draws(g: Camelot, drawer: Knight) -> Script:
    """B8: further draws, each resolved in full before the next."""
    for _ in range(CARD_FIGURES[Card.MORGAN_THREE_DRAWS].params.draws):
        if g.state.turn.ends and g.options.guinevere_stops_morgan_draws:
            break
        yield from draw_and_resolve(g, drawer)
    discard_drawn(g)


def morgan_wounds(g: Camelot, drawer: Knight) -> Script:
    """B9: every living knight loses life."""
    discard_drawn(g)
    yield from lose_life(g, g.living(drawer.seat), -CARD_FIGURES[Card.MORGAN_WOUNDS].params.life, "B9")


def morgan_three_cards(g: Camelot, drawer: Knight) -> Script:
    """B10: one knight may volunteer to discard three cards."""
    discard_drawn(g)
    figures = CARD_FIGURES[Card.MORGAN_THREE_CARDS].params
    able = [knight for knight in g.hale(drawer.seat) if len(knight.hand) >= figures.volunteer_discard]
    volunteer = yield from ask_volunteers(g, able, "B10")
    if volunteer is None:
        yield from everyone_discards(g, drawer, figures.else_discard_each, "B10")
    else:
        yield from discard_own(g, [volunteer], figures.volunteer_discard, "B10")


def morgan_two_lives(g: Camelot, drawer: Knight) -> Script:
    """B11: one knight may volunteer to lose two life."""
    discard_drawn(g)
    figures = CARD_FIGURES[Card.MORGAN_TWO_LIVES].params
    able = [knight for knight in g.hale(drawer.seat) if knight.life >= -figures.volunteer_life]
    volunteer = yield from ask_volunteers(g, able, "B11")
    if volunteer is None:
        yield from everyone_discards(g, drawer, figures.else_discard_each, "B11")
    else:
        yield from lose_life(g, [volunteer], -figures.volunteer_life, "B11")


def ask_volunteers(g: Camelot, able: Sequence[Knight], rule: str) -> Script:
    """Clockwise from the drawer; the first who is willing ends the round."""
    for knight in able:
        if knight.standing is not Standing.ALIVE:
            continue
        try:
            choice = yield from ask(knight.seat, "volunteer", [passing(rule), volunteering(rule)])
        except Withdrawn:
            continue
        willing = choice.verb is Verb.VOLUNTEER
        g.tell(events.Volunteered(knight.seat, willing, rule=rule))
        if willing:
            return knight
    return None


def everyone_discards(g: Camelot, drawer: Knight, number: int, rule: str) -> Script:
    yield from discard_own(g, [knight for knight in g.living(drawer.seat) if knight.hand], number, rule)


def discard_own(g: Camelot, knights: Sequence[Knight], number: int, rule: str) -> Script:
    """Each discards so many cards of his own choice face down, or all he has."""
    answers = yield from ask_all(
        question(
            knight.seat,
            "discard",
            own_cards(knight, rule),
            least=min(number, len(knight.hand)),
            most=min(number, len(knight.hand)),
        )
        for knight in knights
    )
    for knight in knights:
        if knight.seat in answers:
            g.discard(knight, bytes(choice.card for choice in answers[knight.seat]), rule)


def own_cards(knight: Knight, rule: str) -> list[Choice]:
    """One option for each card of the hand; equal ones are counted, never told apart."""
    hand = knight.hand
    return [card_choice(rule, Card(card), place - hand.index(card)) for place, card in enumerate(hand)]


SpecialEffect = Callable[[Camelot, Knight], Script]

SPECIAL_EFFECTS: dict[Card, SpecialEffect] = {
    Card.DARK_FOREST: dark_forest,
    Card.DESOLATION: desolation,
    Card.GUINEVERE: guinevere,
    Card.MISTS_OF_AVALON: mists_of_avalon,
    Card.MORDRED: mordred,
    Card.MORGAN_ENGINES: morgan_engines,
    Card.MORGAN_THREE_DRAWS: morgan_three_draws,
    Card.MORGAN_WOUNDS: morgan_wounds,
    Card.MORGAN_THREE_CARDS: morgan_three_cards,
    Card.MORGAN_TWO_LIVES: morgan_two_lives,
    Card.VIVIEN: vivien,
}
