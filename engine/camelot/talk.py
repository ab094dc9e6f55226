"""What knights may say: intentions, resources and abilities in general terms, true or not, and advice (R18.1, R18.2).

The list names places and knights only. It has nothing about a knight's own loyalty, the piles or a card, as private
knowledge may not be told; and what it offers follows from what everybody sees, so that the offer tells nothing either.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from engine.camelot.camelot import Camelot
from engine.camelot.choices import SEATS
from engine.camelot.pieces import PLACES, QUESTS, Place, Standing
from engine.core.talk import Declaration


class Saying(IntEnum):
    """What kind of thing is said."""

    GO = 1
    STAY = 2
    DRAW_WHITE = 3
    FIGHT_ENGINES = 4
    DRAW_BLACK = 5
    ADD_ENGINE = 6
    LOSE_LIFE = 7
    STRONG = 8
    WEAK = 9
    NEED_CARDS = 10
    OTHERS_FIRST = 11
    CAN_HELP = 12
    CAN_WIN = 13
    HAVE_MAGIC = 14
    CAN_BLEED = 15
    SEND_HELP = 16
    COME_WITH_ME = 17
    STAY_WITH_ME = 18
    FIGHT_THEM = 19
    BREAK_SPELL = 20
    BEAR_SPELL = 21
    HELP_ME = 22
    SUSPECT = 23
    TRUST = 24
    AGREE = 25
    DISAGREE = 26


class Remark(Declaration, frozen=True, eq=False, kw_only=True):
    saying: Saying
    place: Place = Place.NOWHERE
    seat: int = -1


def _plain(saying: Saying, title: str, rule: str = "R18.1") -> Remark:
    return Remark(id=saying.name.lower(), rule=rule, title=title, saying=saying)


def _about_places(
    saying: Saying, title: str, rule: str = "R18.1", places: tuple[Place, ...] = QUESTS
) -> dict[Place, Remark]:
    return {
        place: Remark(
            id=f"{saying.name.lower()}:{place.name.lower()}",
            rule=rule,
            title=title.format(place.title),
            saying=saying,
            place=place,
        )
        for place in places
    }


def _about_knights(saying: Saying, title: str) -> dict[int, Remark]:
    return {
        seat: Remark(
            id=f"{saying.name.lower()}:{seat}", rule="R18.2", title=title.format(seat), saying=saying, seat=seat
        )
        for seat in SEATS
    }


# Intentions
GO = _about_places(Saying.GO, "I mean to go: {}", places=PLACES)
DRAW_BLACK = _plain(Saying.DRAW_BLACK, "I mean to draw a black card")
ADD_ENGINE = _plain(Saying.ADD_ENGINE, "I mean to add a siege engine")
INTENTIONS = (
    _plain(Saying.STAY, "I mean to stay where I am"),
    _plain(Saying.DRAW_WHITE, "I mean to draw white cards"),
    _plain(Saying.FIGHT_ENGINES, "I mean to fight the siege engines"),
    DRAW_BLACK,
    ADD_ENGINE,
    _plain(Saying.LOSE_LIFE, "I mean to lose a point of life"),
)

# Resources
STRONG = _about_places(Saying.STRONG, "My cards are good for: {}")
WEAK = _about_places(Saying.WEAK, "My cards are poor for: {}")
RESOURCES = (
    _plain(Saying.NEED_CARDS, "I could use more cards"),
    _plain(Saying.OTHERS_FIRST, "Let the others have the cards"),
)

# Abilities
CAN_HELP = _about_places(Saying.CAN_HELP, "I could help: {}")
CAN_WIN = _about_places(Saying.CAN_WIN, "I could soon win: {}")
ABILITIES = (
    _plain(Saying.HAVE_MAGIC, "I could help to break a spell of evil"),
    _plain(Saying.CAN_BLEED, "I could spare a point of life"),
)

# Advice, requests and opinions
SEND_HELP = _about_places(Saying.SEND_HELP, "Somebody should go: {}", "R18.2")
COME_WITH_ME = _about_places(Saying.COME_WITH_ME, "Come with me: {}", "R18.2")
HELP_ME = _about_knights(Saying.HELP_ME, "Seat {}, help me")
SUSPECT = _about_knights(Saying.SUSPECT, "I suspect seat {}")
TRUST = _about_knights(Saying.TRUST, "I trust seat {}")
ADVICE = (
    _plain(Saying.STAY_WITH_ME, "Stay with me on this quest", "R18.2"),
    _plain(Saying.FIGHT_THEM, "Somebody should fight the siege engines", "R18.2"),
    _plain(Saying.BREAK_SPELL, "We should break this spell", "R18.2"),
    _plain(Saying.BEAR_SPELL, "We should bear this spell", "R18.2"),
    _plain(Saying.AGREE, "I agree", "R18.2"),
    _plain(Saying.DISAGREE, "I disagree", "R18.2"),
)


def remarks(g: Camelot, seat: int) -> Iterator[Remark]:
    """What a seat may say now.

    A newcomer has to sit down first (R20.8), and the dead have left the game (R13.2). An unmasked traitor has no cards,
    place or fellows left to speak of, only what he will do (R15.1, R15.2).
    """
    if seat >= len(g.state.knights):
        return
    knight = g.state.knights[seat]
    if knight.standing is Standing.UNMASKED:
        yield from (DRAW_BLACK, ADD_ENGINE)
    if knight.standing is not Standing.ALIVE:
        return
    yield from (remark for place, remark in GO.items() if g.in_play(place) and place != knight.place)
    yield from INTENTIONS
    quests = [quest for quest in QUESTS if g.in_play(quest)]
    for about_quests in (STRONG, WEAK):
        yield from (about_quests[quest] for quest in quests)
    yield from RESOURCES
    for about_quests in (CAN_HELP, CAN_WIN):
        yield from (about_quests[quest] for quest in quests)
    yield from ABILITIES
    for about_quests in (SEND_HELP, COME_WITH_ME):
        yield from (about_quests[quest] for quest in quests)
    others = [other for other in g.living(seat) if other is not knight]
    yield from (HELP_ME[other.seat] for other in others)
    for about_knights in (SUSPECT, TRUST):
        yield from (about_knights[other.seat] for other in others if not other.shown)
    yield from ADVICE
