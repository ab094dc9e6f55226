"""Heroic actions and the powers around them (sections 6 and 14, accusations of 14A)."""

from __future__ import annotations

from functools import partial

from engine.camelot import events
from engine.camelot.camelot import Camelot
from engine.camelot.choices import (
    ACCUSE,
    CONTINUE_RUN,
    DRAW_WHITE,
    END_TURN,
    EXCHANGE,
    FIGHT_ENGINE,
    HEAL,
    MOVE,
    MOVE_EXCALIBUR,
    PLACE_FIGHT,
    PLACE_GRAIL,
    PLAY,
    PLAY_FREE,
    REVEAL,
    RIDE,
    SACRIFICE,
    Choice,
    Verb,
    card_choice,
    passing,
)
from engine.camelot.evil import own_cards
from engine.camelot.life import gain_life, lose_life, offer_grail
from engine.camelot.pieces import (
    COMBATS,
    FIGHT_VALUE,
    FIGHTS,
    FIGURES,
    PLACES,
    QUEST_FIGURES,
    QUESTS,
    RELIC_FIGURES,
    WARS,
    WHITE,
    WHITE_SPECIAL,
    WHITE_STANDARD,
    ActionType,
    Card,
    Coat,
    Place,
    Relic,
    Standing,
)
from engine.camelot.quests import (
    continue_run,
    group_takes,
    kay_helps,
    lay_fight,
    lay_grail,
    move_excalibur,
    next_in_run,
)
from engine.camelot.state import Knight
from engine.camelot.traitor import unmask
from engine.camelot.white import play_special
from engine.core.decisions import Condition, Offer, Script, ask, ask_all, ask_several, question

Offered = Offer[Choice]

MOVE_TYPE = ActionType.MOVE.value
QUEST_TYPE = ActionType.QUEST.value
SPECIAL_TYPE = ActionType.SPECIAL.value
HEAL_TYPE = ActionType.HEAL.value
ACCUSE_TYPE = ActionType.ACCUSE.value


# What is on offer


def heroic_options(g: Camelot, offer: Offered) -> None:
    """All that the active knight may do now: an action, a power, a sacrifice, or end his turn."""
    knight, turn = g.active, g.state.turn
    may_act = turn.actions == 0 or turn.owed
    acting: Condition = ("R6.2" if turn.actions == 0 else "R6.3", may_act)
    if may_act or offer.explaining:
        actions(g, offer, acting)
    can_act = bool(offer.options) or (offer.explaining and may_act and any_action(g))
    alive: Condition = ("R13.6", knight.life > 0)
    powers(g, offer, alive, action_due=may_act)
    if not may_act or offer.explaining:
        offer(
            SACRIFICE,
            alive,
            ("R6.2", turn.actions > 0),
            ("R6.3", not turn.sacrificed),
            ("R6.3", not turn.owed and any_action(g)),
        )
    offer(END_TURN, ("R6.2", not may_act or not can_act))


def any_action(g: Camelot) -> bool:
    """Whether an action of a type not yet used is there to be taken."""
    offer: Offered = Offer()
    actions(g, offer, ("R6.3", True))
    return bool(offer.options)


def actions(g: Camelot, offer: Offered, acting: Condition) -> None:
    """The five types of action (R6.1); each type once a turn (R6.3, R6.4)."""
    knight, used = g.active, g.state.turn.types
    if not used & MOVE_TYPE or offer.explaining:
        moves(g, offer, knight, acting, ("R6.3", not used & MOVE_TYPE))
    if not used & QUEST_TYPE or offer.explaining:
        quest_actions(g, offer, knight, knight.place, acting, ("R6.3", not used & QUEST_TYPE))
    if not used & SPECIAL_TYPE or offer.explaining:
        special_cards(g, offer, knight, PLAY, acting, ("R6.20", not used & SPECIAL_TYPE))
    if not used & HEAL_TYPE or offer.explaining:
        healing(g, offer, knight, acting, ("R6.3", not used & HEAL_TYPE))
    if not used & ACCUSE_TYPE or offer.explaining:
        accusations(g, offer, knight, acting, ("R6.3", not used & ACCUSE_TYPE))


def moves(g: Camelot, offer: Offered, knight: Knight, *conditions: Condition) -> None:
    for place in PLACES:
        offer(
            MOVE[place],
            *conditions,
            ("R6.27", place != knight.place),
            ("R6.11", g.in_play(place)),
            ("R6.9", g.free(place)),
        )


def quest_actions(g: Camelot, offer: Offered, knight: Knight, place: Place, *conditions: Condition) -> None:
    """Type B at a place: that of the knight, or where Tristan thinks of riding."""
    state, hand = g.state, knight.hand
    for there in (place,) if not offer.explaining else PLACES:
        here: Condition = ("R6.12", there == place)
        if there == Place.CAMELOT:
            limit = FIGURES.hand_limit_for_draw_action
            offer(DRAW_WHITE, *conditions, here, ("R6.13", len(hand) < limit))
            fights = g.options.allow_zero_card_engine_fight or any(card <= Card.FIGHT_5 for card in hand)
            offer(FIGHT_ENGINE, *conditions, here, ("R6.14", state.engines > 0), ("R6.14", fights))
        elif there in COMBATS:
            for card in FIGHTS:
                for group in range(len(QUEST_FIGURES[there].groups)):
                    offer(
                        PLACE_FIGHT[there, card, group],
                        *conditions,
                        here,
                        ("W1", card in hand),
                        ("R10.3", group_takes(g, there, group, card)),
                    )
        elif there == Place.EXCALIBUR:
            for card in WHITE:
                offer(MOVE_EXCALIBUR[card], *conditions, here, ("R6.17", card in hand))
        elif there == Place.GRAIL:
            offer(PLACE_GRAIL, *conditions, here, ("W2", Card.GRAIL in hand), ("B1", not state.dark_forest))
        elif there in WARS:
            wanted = next_in_run(g, there)
            for card in FIGHTS:
                offer(
                    CONTINUE_RUN[there, card],
                    *conditions,
                    here,
                    ("W1", card in hand),
                    ("R6.19", FIGHT_VALUE[card] == wanted),
                )


def special_cards(
    g: Camelot, offer: Offered, knight: Knight, options: dict[Card, Choice], *conditions: Condition
) -> None:
    for card in WHITE_SPECIAL:
        if card in knight.hand or offer.explaining:
            offer(
                options[card],
                *conditions,
                ("R6.20", card in knight.hand),
                ("R7.5", card != Card.MERLIN or not g.state.vivien),
            )


def healing(g: Camelot, offer: Offered, knight: Knight, *conditions: Condition) -> None:
    hand = knight.hand
    for card in (*WHITE_STANDARD, Card.MERLIN):
        standard = card != Card.MERLIN or g.options.heal_with_merlins
        offer(HEAL[card], *conditions, ("R6.24", standard and hand.count(card) >= FIGURES.heal_cards))


def accusations(g: Camelot, offer: Offered, knight: Knight, *conditions: Condition) -> None:
    state = g.state
    pressed = state.engines >= FIGURES.accuse_min_engines or g.swords >= FIGURES.accuse_min_swords
    if not pressed and not offer.explaining:
        return
    for other in state.knights:
        offer(
            ACCUSE[other.seat],
            *conditions,
            ("R14A.1", pressed),
            ("R14A.2", not knight.accused),
            ("R14A.2", other is not knight and not other.shown),
            ("R14A.2", other.standing is Standing.ALIVE),
            ("R13.11", other.life > 0),
        )


def powers(g: Camelot, offer: Offered, alive: Condition, *, action_due: bool) -> None:
    """Once per turn, before, between or after actions; a free action uses up its type (R6.4)."""
    knight, turn = g.active, g.state.turn
    if knight.coat is Coat.ARTHUR or offer.explaining:
        arthur: Condition = ("R14.1", knight.coat is Coat.ARTHUR)
        for other in g.state.knights:
            offer(
                EXCHANGE[other.seat],
                arthur,
                alive,
                ("R14.1", not turn.exchanged),
                ("R14.1", bool(knight.hand)),
                ("R14.1", other is not knight and bool(other.hand)),
                ("R13.11", other.life > 0 and other.standing is Standing.ALIVE),
            )
    if knight.coat is Coat.GALAHAD or offer.explaining:
        galahad: Condition = ("R14.3", knight.coat is Coat.GALAHAD)
        special_cards(g, offer, knight, PLAY_FREE, galahad, alive, ("R6.20", not turn.types & SPECIAL_TYPE))
    if knight.coat is Coat.TRISTAN or offer.explaining:
        rides(g, offer, knight, alive, action_due=action_due)
    if knight.traitor or offer.explaining:
        offer(
            REVEAL,
            ("R15.7", knight.traitor and g.knows_loyalty(knight)),
            ("R15.6", g.options.traitor_voluntary_reveal),
            ("R15.8", alive[1]),
        )


def rides(g: Camelot, offer: Offered, knight: Knight, alive: Condition, *, action_due: bool) -> None:
    """Tristan rides free from Camelot; while an action is due, only where he will then have one (R14.7, R14.8)."""
    turn = g.state.turn
    tristan: Condition = ("R14.7", knight.coat is Coat.TRISTAN and knight.place == Place.CAMELOT)
    for place in QUESTS:
        offer(
            RIDE[place],
            tristan,
            alive,
            ("R6.4", not turn.types & MOVE_TYPE),
            ("R14.7", not turn.paid_to_camelot),
            ("R6.11", g.in_play(place)),
            ("R6.9", g.free(place)),
            ("R14.8", not action_due or not tristan[1] or acts_at(g, knight, place)),
        )


def acts_at(g: Camelot, knight: Knight, place: Place) -> bool:
    """Whether the knight would have an action other than a move at that place."""
    used = g.state.turn.types
    offer: Offered = Offer()
    if not used & QUEST_TYPE:
        quest_actions(g, offer, knight, place)
    if not used & SPECIAL_TYPE:
        special_cards(g, offer, knight, PLAY)
    if not used & HEAL_TYPE:
        healing(g, offer, knight)
    if not used & ACCUSE_TYPE:
        accusations(g, offer, knight)
    return bool(offer.options)


# Carrying it out


def heroic_step(g: Camelot) -> Script:
    """One choice of the heroic phase: an action, a power, a sacrifice, a revelation, or the end of the turn."""
    knight, turn = g.active, g.state.turn
    choice = yield from ask(knight.seat, "heroic_action", partial(heroic_options, g), prefer=[END_TURN, DRAW_WHITE])
    if choice is END_TURN:
        turn.ends = True
    elif choice is SACRIFICE:
        sacrifice(g, knight)
    elif choice is REVEAL:
        unmask(g, knight, "R15.7")
    elif choice.verb is Verb.EXCHANGE:
        yield from exchange(g, knight, g.state.knights[choice.seat])
    elif choice.verb is Verb.PLAY_FREE:
        turn.types |= SPECIAL_TYPE
        g.tell(events.PowerUsed(knight.seat, knight.coat, rule="R14.3"))
        yield from play_special(g, knight, choice.card)
    elif choice.verb is Verb.RIDE:
        turn.types |= MOVE_TYPE
        g.tell(events.PowerUsed(knight.seat, knight.coat, rule="R14.7"))
        g.move(knight, choice.place, "R14.7")
    else:
        turn.actions += 1
        turn.owed = False
        yield from act(g, knight, choice)
        if turn.fatal:
            yield from pay_with_life(g, knight)


def act(g: Camelot, knight: Knight, choice: Choice) -> Script:
    """One action, by its type."""
    turn, verb = g.state.turn, choice.verb
    if verb is Verb.MOVE:
        turn.types |= MOVE_TYPE
        turn.paid_to_camelot = choice.place == Place.CAMELOT
        g.move(knight, choice.place, "R6.7")
    elif verb is Verb.PLAY:
        turn.types |= SPECIAL_TYPE
        yield from play_special(g, knight, choice.card)
    elif verb is Verb.HEAL:
        turn.types |= HEAL_TYPE
        g.discard(knight, bytes([choice.card] * FIGURES.heal_cards), "R6.24", shown=True)
        gain_life(g, knight, FIGURES.heal_gain, "R6.24")
    elif verb is Verb.ACCUSE:
        turn.types |= ACCUSE_TYPE
        accuse(g, knight, g.state.knights[choice.seat])
    else:
        turn.types |= QUEST_TYPE
        yield from quest_action(g, knight, choice)


def quest_action(g: Camelot, knight: Knight, choice: Choice) -> Script:
    verb = choice.verb
    if verb is Verb.DRAW_WHITE:
        gawain = knight.coat is Coat.GAWAIN
        g.draw_to_hand(knight, FIGURES.draw_action_cards + gawain, "R14.2" if gawain else "R6.13")
    elif verb is Verb.FIGHT_ENGINE:
        yield from fight_engine(g, knight)
    elif verb is Verb.MOVE_EXCALIBUR:
        g.discard(knight, bytes([choice.card]), "R6.17")
        yield from move_excalibur(g, 1, knight, "R6.17")
    elif verb is Verb.PLACE_GRAIL:
        yield from lay_grail(g, knight)
    elif choice.place in WARS:
        yield from continue_run(g, knight, choice.place, choice.card)
    else:
        yield from lay_fight(g, knight, choice.place, choice.card, choice.number)


def fight_engine(g: Camelot, knight: Knight) -> Script:
    """Fight cards against the eight-sided die; a tie is lost (R6.14, R6.15)."""
    fights = [option for option in own_cards(knight, "R6.14") if option.card <= Card.FIGHT_5]
    none = [passing("R6.14")] if g.options.allow_zero_card_engine_fight else []
    picked = yield from ask_several(
        knight.seat, "fight_cards", [*none, *fights], least=1, most=max(1, len(fights)), prefer=fights[-1:]
    )
    cards = bytes(choice.card for choice in picked if choice.verb is not Verb.PASS)
    g.discard(knight, cards, "R6.14", shown=True)
    roll = g.roll()
    g.tell(events.EngineFought(knight.seat, tuple(map(Card, cards)), roll, rule="R6.14"))
    total = sum(FIGHT_VALUE[card] for card in cards)
    if knight.coat is Coat.KAY and knight.life:
        total += yield from kay_helps(g, knight)
    if g.owner(Relic.EXCALIBUR) is knight:
        total += RELIC_FIGURES[Relic.EXCALIBUR].fight_bonus
    g.tell(events.FightDecided(total, roll, total > roll, Place.CAMELOT, rule="R6.14"))
    if total > roll:
        g.remove_engine("R6.14")
    else:
        yield from lose_life(g, [knight], 1, "R6.14")


def accuse(g: Camelot, knight: Knight, accused: Knight) -> None:
    """The accused shows his loyalty: a white sword turns black, or a new one is laid (R14A.3 to R14A.5)."""
    knight.accused = True
    accused.shown = True
    g.tell(events.Accused(knight.seat, accused.seat, rule="R14A.2"))
    g.tell(events.LoyaltyShown(accused.seat, accused.traitor, rule="R14A.3"))
    if accused.traitor:
        unmask(g, accused, "R14A.5")
        g.lay_swords(1, 0, "R14A.5")
    else:
        g.turn_swords(1, "R14A.4")
        g.check_black_swords()


def sacrifice(g: Camelot, knight: Knight) -> None:
    """Pays 1 life at once; with the last point the Grail waits for the end of the action (R6.3, R13.3, R13.5)."""
    turn = g.state.turn
    turn.sacrificed = turn.owed = True
    knight.life -= 1
    g.tell(events.Sacrificed(knight.seat, rule="R6.3"))
    g.tell(events.LifeChanged(knight.seat, -1, knight.life, rule="R6.3"))
    if not knight.life:
        turn.fatal = True
        turn.fatal_grail = g.owner(Relic.HOLY_GRAIL) is not None


def pay_with_life(g: Camelot, knight: Knight) -> Script:
    """After the action of a fatal sacrifice only the Grail won before it may save the knight (R13.3, R9.4)."""
    turn = g.state.turn
    turn.fatal = False
    if turn.fatal_grail and knight.doomed:
        yield from offer_grail(g, [knight])


def exchange(g: Camelot, arthur: Knight, other: Knight) -> Script:
    """Each gives the other one card of his own choice, face down (R14.1)."""
    g.state.turn.exchanged = True
    g.tell(events.PowerUsed(arthur.seat, arthur.coat, rule="R14.1"))
    answers = yield from ask_all(
        (
            question(knight.seat, "give_card", [card_choice("R14.1", Card(card)) for card in sorted(set(knight.hand))])
            for knight in (arthur, other)
        ),
        settled=lambda _: not (arthur.hand and other.hand),
    )
    if len(answers) < 2:
        # One of them has left.
        return
    for giver in (arthur, other):
        giver.hand.remove(answers[giver.seat][0].card)
    for giver, receiver in ((arthur, other), (other, arthur)):
        g.pass_cards(giver, receiver, bytes([answers[giver.seat][0].card]), "R14.1")
