"""The pieces of Shadows over Camelot as small numbers, in the order of the box's data."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, IntFlag

from engine.camelot.box import BOX, FILE
from engine.core.data import refuse


class Card(IntEnum):
    """A card by kind. Two cards of a kind are never told apart; UNKNOWN stands for one whose kind is hidden."""

    UNKNOWN = 0
    FIGHT_1 = 1
    FIGHT_2 = 2
    FIGHT_3 = 3
    FIGHT_4 = 4
    FIGHT_5 = 5
    GRAIL = 6
    MERLIN = 7
    CLAIRVOYANCE = 8
    CONVOCATION = 9
    FATE = 10
    HEROISM = 11
    LADY_OF_THE_LAKE = 12
    MESSENGER = 13
    PIETY = 14
    REINFORCEMENTS = 15
    BLACK_KNIGHT_1 = 16
    BLACK_KNIGHT_3 = 17
    BLACK_KNIGHT_5 = 18
    BLACK_KNIGHT_7 = 19
    LANCELOT_DRAGON_1_5 = 20
    LANCELOT_DRAGON_3_7 = 21
    LANCELOT_DRAGON_5_9 = 22
    LANCELOT_DRAGON_7_11 = 23
    BLACK_EXCALIBUR = 24
    DESPAIR = 25
    PICTS = 26
    SAXONS = 27
    MERCENARIES = 28
    DARK_FOREST = 29
    DESOLATION = 30
    GUINEVERE = 31
    MISTS_OF_AVALON = 32
    MORDRED = 33
    MORGAN_ENGINES = 34
    MORGAN_THREE_DRAWS = 35
    MORGAN_WOUNDS = 36
    MORGAN_THREE_CARDS = 37
    MORGAN_TWO_LIVES = 38
    VIVIEN = 39

    @property
    def title(self) -> str:
        return BOX.cards[self.name.lower()].name


class Place(IntEnum):
    """Where a knight's figure may stand. Camelot's two areas are one place (R6.27)."""

    NOWHERE = 0
    CAMELOT = 1
    BLACK_KNIGHT = 2
    LANCELOT = 3
    DRAGON = 4
    EXCALIBUR = 5
    GRAIL = 6
    PICT_WAR = 7
    SAXON_WAR = 8

    @property
    def title(self) -> str:
        return "Camelot" if self is Place.CAMELOT else BOX.quests[self.name.lower()].name


class Coat(IntEnum):
    """A Coat of Arms: which knight a player is; a squire has none (R20.3)."""

    NONE = 0
    ARTHUR = 1
    GAWAIN = 2
    GALAHAD = 3
    KAY = 4
    PALAMEDES = 5
    PERCIVAL = 6
    TRISTAN = 7

    @property
    def title(self) -> str:
        return BOX.knights[self.name.lower()].name


class Relic(IntEnum):
    EXCALIBUR = 1
    LANCELOTS_ARMOR = 2
    HOLY_GRAIL = 3

    @property
    def title(self) -> str:
        return BOX.relics[self.name.lower()].name


class Loyalty(IntEnum):
    LOYAL = 0
    TRAITOR = 1


class Standing(IntEnum):
    """What has become of a knight."""

    ALIVE = 1
    DEAD = 2
    UNMASKED = 3
    LEFT = 4
    """His player has left, which is like dying at once (R20.2)."""


class Phase(IntEnum):
    SHARING = 1
    """Before the first turn: round-table sharing (R2.10)."""
    EVIL = 2
    HEROIC = 3
    TRAITOR = 4
    """The turn of an unmasked traitor (R15.2)."""
    OVER = 5
    CHALLENGE = 6
    """Before everything else, with squires: who begins as one (R20.3)."""


class Ending(IntEnum):
    SIEGE = 1
    BLACK_SWORDS = 2
    ALL_DEAD = 3
    TWELFTH_SWORD_WON = 4
    TWELFTH_SWORD_LOST = 5


class ActionType(IntFlag):
    """The five types of heroic action (R6.1)."""

    NONE = 0
    MOVE = 1
    QUEST = 2
    SPECIAL = 4
    HEAL = 8
    ACCUSE = 16


def _check_ids(place: str, listed: Iterable[str], pieces: type[IntEnum]) -> None:
    """The rules speak of pieces by name: the box must list these and no others."""
    ids, known = set(listed), {piece.name.lower() for piece in pieces if piece}
    refuse(
        FILE,
        [(f"{place}.{name}", "the rules know no such piece") for name in sorted(ids - known)]
        + [(f"{place}.{name}", "is missing") for name in sorted(known - ids)],
    )


_check_ids("cards", (card.id for card in BOX.cards.values() if card.deck != "loyalty"), Card)
_check_ids("quests", ("camelot", *BOX.quests), Place)
_check_ids("knights", BOX.knights, Coat)
_check_ids("relics", BOX.relics, Relic)

FIGHTS = (Card.FIGHT_1, Card.FIGHT_2, Card.FIGHT_3, Card.FIGHT_4, Card.FIGHT_5)
WHITE_STANDARD = (*FIGHTS, Card.GRAIL)
WHITE_SPECIAL = tuple(Card(n) for n in range(Card.MERLIN, Card.REINFORCEMENTS + 1))
WHITE = (*WHITE_STANDARD, *WHITE_SPECIAL)
BLACK = tuple(Card(n) for n in range(Card.BLACK_KNIGHT_1, Card.VIVIEN + 1))
PLACES = tuple(place for place in Place if place)
QUESTS = PLACES[1:]
WARS = (Place.PICT_WAR, Place.SAXON_WAR)
COMBATS = (Place.BLACK_KNIGHT, Place.LANCELOT, Place.DRAGON)

FIGURES = BOX.constants
QUEST_FIGURES = {place: BOX.quests[place.name.lower()] for place in QUESTS}
CARD_FIGURES = {card: BOX.cards[card.name.lower()] for card in (*WHITE, *BLACK)}
RELIC_FIGURES = {relic: BOX.relics[relic.name.lower()] for relic in Relic}

FIGHT_VALUE = tuple(CARD_FIGURES[card].values[0] if card in FIGHTS else 0 for card in Card)
"""By card: what it adds to a white total."""
SPECIAL_BLACK = frozenset(card for card in BLACK if CARD_FIGURES[card].kind == "special")
SOLO = frozenset(place for place in QUESTS if QUEST_FIGURES[place].solo)


def black_value(card: int, quest: Place) -> int:
    """What a black card adds on a combat quest: Lancelot/Dragon cards carry one value for each (R5.4)."""
    values = CARD_FIGURES[Card(card)].values
    return values[-1] if quest == Place.DRAGON else values[0]
