"""Everything a knight may choose, each made once: option ids, the rules that allow them, and what they refer to."""

from __future__ import annotations

from enum import IntEnum
from functools import cache

from engine.camelot.pieces import (
    COMBATS,
    FIGHTS,
    FIGURES,
    PLACES,
    QUEST_FIGURES,
    QUESTS,
    WARS,
    WHITE,
    WHITE_SPECIAL,
    WHITE_STANDARD,
    Card,
    Place,
)
from engine.core.decisions import Option

SEATS = range(FIGURES.players_max)


class Verb(IntEnum):
    """What kind of choice an option is."""

    PASS = 1
    DRAW_BLACK = 2
    ADD_ENGINE = 3
    LOSE_LIFE = 4
    PEEK = 5
    FACE_UP = 6
    FACE_DOWN = 7
    RESOLVE = 8
    PLEDGE = 9
    GIVE_UP_EXCALIBUR = 10
    SEND_TO = 11
    VOLUNTEER = 12
    MOVE = 13
    DRAW_WHITE = 14
    FIGHT_ENGINE = 15
    PLACE_FIGHT = 16
    MOVE_EXCALIBUR = 17
    PLACE_GRAIL = 18
    PLAY = 19
    PLAY_FREE = 20
    HEAL = 21
    ACCUSE = 22
    SACRIFICE = 23
    EXCHANGE = 24
    RIDE = 25
    REVEAL = 26
    END_TURN = 27
    CARD = 28
    TARGET = 29
    FOR_ME = 30
    FOR_OTHERS = 31
    RETURN = 32
    STAY = 33
    SAVE = 34
    GIVE = 35
    DEAL_AT_RANDOM = 36
    ACCEPT = 37
    DECLINE = 38
    TAUNT = 39
    BEGIN_AS_SQUIRE = 40
    BEGIN_AS_KNIGHT = 41
    KNIGHT_SQUIRE = 42


class Choice(Option, frozen=True, eq=False, kw_only=True):
    verb: Verb
    card: Card = Card.UNKNOWN
    place: Place = Place.NOWHERE
    seat: int = -1
    number: int = -1
    """Merlins pledged, group of a combat quest, or which of several equal cards."""


def _name(piece: Card | Place) -> str:
    return piece.name.lower()


@cache
def passing(rule: str) -> Choice:
    """To do nothing of what a rule allows."""
    return Choice(id="pass", rule=rule, title="Pass", verb=Verb.PASS, alone=True)


# Progression of Evil

DRAW_BLACK = Choice(id="draw_black", rule="R4.2", title="Draw a black card", verb=Verb.DRAW_BLACK)
ADD_ENGINE = Choice(id="add_engine", rule="R4.3", title="Add a siege engine", verb=Verb.ADD_ENGINE)
LOSE_LIFE = Choice(id="lose_life", rule="R4.4", title="Lose 1 life", verb=Verb.LOSE_LIFE)
PEEK = Choice(id="peek", rule="R14.6", title="Look at the top black card", verb=Verb.PEEK)

FACE_UP = Choice(id="face_up", rule="R5.3", title="Lay it face up", verb=Verb.FACE_UP)
FACE_DOWN = Choice(id="face_down", rule="R5.3", title="Lay it face down", verb=Verb.FACE_DOWN)
GIVE_UP_EXCALIBUR = Choice(
    id="give_up_excalibur", rule="R9.2", title="Give up Excalibur to stop it", verb=Verb.GIVE_UP_EXCALIBUR
)
PLEDGE = {
    number: Choice(id=f"pledge:{number}", rule="R7.4", title=f"Pledge {number} Merlin", verb=Verb.PLEDGE, number=number)
    for number in range(1, FIGURES.merlins_to_cancel + 1)
}
SEND_TO = {
    war: Choice(id=f"war:{_name(war)}", rule="R5.8", title=war.title, verb=Verb.SEND_TO, place=war) for war in WARS
}


@cache
def volunteering(rule: str) -> Choice:
    return Choice(id="volunteer", rule=rule, title="Volunteer", verb=Verb.VOLUNTEER)


@cache
def resolve(card: Card, copy: int) -> Choice:
    """One of the two cards drawn with Lancelot's Armor."""
    return Choice(
        id=_copy_id("resolve", card, copy),
        rule="R9.3",
        title=f"Resolve {card.title}",
        verb=Verb.RESOLVE,
        card=card,
        number=copy,
    )


# Heroic actions

MOVE = {
    place: Choice(id=f"move:{_name(place)}", rule="R6.7", title=f"Move: {place.title}", verb=Verb.MOVE, place=place)
    for place in PLACES
}
DRAW_WHITE = Choice(id="draw_white", rule="R6.13", title="Draw white cards", verb=Verb.DRAW_WHITE)
FIGHT_ENGINE = Choice(id="fight_engine", rule="R6.14", title="Fight a siege engine", verb=Verb.FIGHT_ENGINE)
PLACE_FIGHT = {
    (quest, card, group): Choice(
        id=f"fight:{_name(quest)}:{_name(card)}:{group}",
        rule="R6.16",
        title=f"Play {card.title} into group {group + 1}",
        verb=Verb.PLACE_FIGHT,
        card=card,
        place=quest,
        number=group,
    )
    for quest in COMBATS
    for card in FIGHTS
    for group in range(len(QUEST_FIGURES[quest].groups))
}
CONTINUE_RUN = {
    (war, card): Choice(
        id=f"fight:{_name(war)}:{_name(card)}",
        rule="R6.19",
        title=f"Play {card.title}",
        verb=Verb.PLACE_FIGHT,
        card=card,
        place=war,
    )
    for war in WARS
    for card in FIGHTS
}
MOVE_EXCALIBUR = {
    card: Choice(
        id=f"excalibur:{_name(card)}",
        rule="R6.17",
        title=f"Discard {card.title} to move Excalibur",
        verb=Verb.MOVE_EXCALIBUR,
        card=card,
        place=Place.EXCALIBUR,
    )
    for card in WHITE
}
PLACE_GRAIL = Choice(
    id="grail",
    rule="R6.18",
    title="Play a Grail card",
    verb=Verb.PLACE_GRAIL,
    card=Card.GRAIL,
    place=Place.GRAIL,
)
PLAY = {
    card: Choice(id=f"play:{_name(card)}", rule="R6.20", title=f"Play {card.title}", verb=Verb.PLAY, card=card)
    for card in WHITE_SPECIAL
}
PLAY_FREE = {
    card: Choice(
        id=f"free:{_name(card)}",
        rule="R14.3",
        title=f"Play {card.title} by Galahad's power",
        verb=Verb.PLAY_FREE,
        card=card,
    )
    for card in WHITE_SPECIAL
}
HEAL = {
    card: Choice(id=f"heal:{_name(card)}", rule="R6.24", title=f"Heal with 3 {card.title}", verb=Verb.HEAL, card=card)
    for card in (*WHITE_STANDARD, Card.MERLIN)
}
ACCUSE = {
    seat: Choice(id=f"accuse:{seat}", rule="R14A.1", title=f"Accuse seat {seat}", verb=Verb.ACCUSE, seat=seat)
    for seat in SEATS
}
SACRIFICE = Choice(id="sacrifice", rule="R6.3", title="Pay 1 life for a second action", verb=Verb.SACRIFICE)
EXCHANGE = {
    seat: Choice(
        id=f"exchange:{seat}",
        rule="R14.1",
        title=f"Exchange a card with seat {seat}",
        verb=Verb.EXCHANGE,
        seat=seat,
    )
    for seat in SEATS
}
RIDE = {
    place: Choice(id=f"ride:{_name(place)}", rule="R14.7", title=f"Ride: {place.title}", verb=Verb.RIDE, place=place)
    for place in QUESTS
}
REVEAL = Choice(id="reveal", rule="R15.7", title="Reveal yourself as the traitor", verb=Verb.REVEAL)
END_TURN = Choice(id="end_turn", rule="R6.2", title="End the turn", verb=Verb.END_TURN)

# Choices within an action or an effect


def _copy_id(verb: str, card: Card, copy: int) -> str:
    return f"{verb}:{_name(card)}" + (f":{copy + 1}" if copy else "")


@cache
def card_choice(rule: str, card: Card, copy: int = 0) -> Choice:
    """A card of one's own; `copy` counts equal ones."""
    return Choice(
        id=_copy_id("card", card, copy),
        rule=rule,
        title=card.title,
        verb=Verb.CARD,
        card=card,
        number=copy,
    )


TARGET_ENGINE = Choice(id="remove:engine", rule="W3", title="Remove an engine", verb=Verb.TARGET, place=Place.CAMELOT)
TARGET_CARD = {
    quest: Choice(
        id=f"remove:card:{_name(quest)}",
        rule="W3",
        title=f"Remove the last black card: {quest.title}",
        verb=Verb.TARGET,
        place=quest,
    )
    for quest in (*COMBATS, Place.GRAIL)
}
TARGET_WARRIOR = {
    war: Choice(
        id=f"remove:warrior:{_name(war)}",
        rule="W3",
        title=f"Remove a warrior: {war.title}",
        verb=Verb.TARGET,
        place=war,
    )
    for war in WARS
}
HEROISM_ON = {
    quest: Choice(id=f"quest:{_name(quest)}", rule="W7", title=quest.title, verb=Verb.TARGET, place=quest)
    for quest in QUESTS
}
KNIGHT = {
    seat: Choice(id=f"knight:{seat}", rule="W9", title=f"Seat {seat}", verb=Verb.TARGET, seat=seat) for seat in SEATS
}
FOR_ME = {rule: Choice(id="for_me", rule=rule, title="For yourself", verb=Verb.FOR_ME) for rule in ("W10", "W11")}
FOR_OTHERS = {
    rule: Choice(id="for_others", rule=rule, title="For every other knight", verb=Verb.FOR_OTHERS)
    for rule in ("W10", "W11")
}
RETURN = Choice(id="return", rule="W5", title="Return to Camelot", verb=Verb.RETURN)
STAY = Choice(id="stay", rule="W5", title="Stay on the quest", verb=Verb.STAY)
SAVE = {
    seat: Choice(
        id=f"save:{seat}",
        rule="R9.4",
        title=f"Let seat {seat} drink from the Grail",
        verb=Verb.SAVE,
        seat=seat,
    )
    for seat in SEATS
}

# Sharing

GIVE = {
    seat: Choice(id=f"give:{seat}", rule="R2.10", title=f"To seat {seat}", verb=Verb.GIVE, seat=seat) for seat in SEATS
}
DEAL_AT_RANDOM = Choice(id="deal_at_random", rule="R2.10", title="Deal at random", verb=Verb.DEAL_AT_RANDOM)
ACCEPT = Choice(id="accept", rule="R2.10", title="Accept the proposal", verb=Verb.ACCEPT)
DECLINE = Choice(id="decline", rule="R2.10", title="Decline: deal at random", verb=Verb.DECLINE)

# Squires

AS_SQUIRE = Choice(id="squire", rule="R20.3", title="Begin as a squire", verb=Verb.BEGIN_AS_SQUIRE)
AS_KNIGHT = Choice(id="knight", rule="R2.2", title="Begin as a knight", verb=Verb.BEGIN_AS_KNIGHT)
KNIGHT_SQUIRE = {
    seat: Choice(
        id=f"squire:{seat}", rule="R20.9", title=f"Have seat {seat} knighted", verb=Verb.KNIGHT_SQUIRE, seat=seat
    )
    for seat in SEATS
}
ACCEPT_SQUIRE = Choice(id="accept", rule="R20.9", title="Accept the proposal", verb=Verb.ACCEPT)
DECLINE_SQUIRE = Choice(id="decline", rule="R20.9", title="Decline the proposal", verb=Verb.DECLINE)

# The unmasked traitor

TAUNT = {
    seat: Choice(
        id=f"taunt:{seat}",
        rule="R15.2",
        title=f"Discard a random card of seat {seat}",
        verb=Verb.TAUNT,
        seat=seat,
    )
    for seat in SEATS
}
