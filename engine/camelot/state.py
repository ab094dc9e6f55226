"""The state of a game: plain numbers and lists, nothing derived. Piles and hands are `bytearray`s of card kinds."""

from __future__ import annotations

from typing import Annotated

import msgspec

from engine.camelot.pieces import (
    QUEST_FIGURES,
    ActionType,
    Card,
    Coat,
    Ending,
    Loyalty,
    Phase,
    Place,
    Relic,
    Standing,
)
from engine.core.facts import Bits, ByPiece, Pieces

NOBODY = -1

# How these numbers are written in a position.
BlackCard = Annotated[int, Pieces(Card, "black")]
WhiteCards = Annotated[bytearray, Pieces(Card, "white")]
WhitePile = Annotated[bytearray, Pieces(Card, "white", top_last=True)]
BlackCards = Annotated[bytearray, Pieces(Card, "black")]
BlackPile = Annotated[bytearray, Pieces(Card, "black", top_last=True)]
Seats = Annotated[int, Bits()]


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The game's options, as named and explained in `data/box.toml`; saved with the game."""

    persistent_black_duration: str
    traitor_in_deck: str
    squires: bool
    squire_start_life: int
    squire_start_cards: int
    blind_loyalty_3p: bool
    unmasked_traitor_steals_card: bool
    armor_when_black_card_ends_lancelot: str
    heal_with_merlins: bool
    allow_zero_card_engine_fight: bool
    end_flips_trigger_seven_black: bool
    convocation_return: str
    excalibur_cancels: str
    excalibur_cancel_drawer: str
    desolation_effect: str
    traitor_voluntary_reveal: bool
    guinevere_stops_morgan_draws: bool


class Knight(msgspec.Struct, array_like=True):
    """A seat's knight."""

    seat: int
    coat: Annotated[Coat, Pieces(deck="coats", zero=True)]
    life: int
    traitor: Annotated[bool, Pieces(deck="loyalty")]
    """The secret loyalty card."""
    hand: WhiteCards = msgspec.field(default_factory=bytearray)
    """White cards, sorted by kind."""
    place: Place = Place.CAMELOT
    standing: Standing = Standing.ALIVE
    shown: bool = False
    """The loyalty card lies face up."""
    looked: bool = False
    """Has seen his own loyalty card where it is dealt unseen (R2.8, W6)."""
    accused: bool = False
    """Has made his one accusation (R14A.2)."""
    known_top: int = 0
    """How many cards on top of the black pile he has seen in their order."""
    known_bottom: int = 0
    """How many at its bottom."""
    joined: bool = False
    """Came in mid-game (R20.1)."""

    @property
    def doomed(self) -> bool:
        """At 0 life and not yet removed (R13.11)."""
        return self.life == 0 and self.standing is Standing.ALIVE


class Laid(msgspec.Struct, array_like=True):
    """A black card on a combat quest."""

    card: BlackCard
    face_down: bool = False
    seen: Seats = 0
    """Seats that know a face-down card, as bits."""


class Combat(msgspec.Struct, array_like=True):
    """A combat quest: white groups of equal cards, black cards in the order they were laid."""

    white: list[WhiteCards]
    black: list[Laid]


class War(msgspec.Struct, array_like=True):
    run: int = 0
    """How many Fight cards lie, always the first of the run."""
    warriors: int = 0
    mordred: bool = False


class Turn(msgspec.Struct, array_like=True):
    """What the active knight has done in this turn."""

    types: Annotated[int, Bits(ActionType)] = 0
    """Action types used up, as bits of `ActionType` (R6.3, R6.4)."""
    actions: int = 0
    owed: bool = False
    """A sacrifice is paid, its action not yet made."""
    sacrificed: bool = False
    exchanged: bool = False
    """Arthur's power is used (R14.1)."""
    paid_to_camelot: bool = False
    """Came to Camelot by a paid move (R14.7)."""
    fatal: bool = False
    """The sacrifice took the last point of life (R13.5)."""
    fatal_grail: bool = False
    """The Grail had been won before that sacrifice (R9.4)."""
    ends: bool = False
    """The turn ends without further actions (R3.5)."""


class Pool(msgspec.Struct, array_like=True):
    """White cards that several knights are to share."""

    cards: WhiteCards
    sharers: tuple[int, ...]
    public: bool
    """Everybody sees the cards, not the sharers alone."""
    proposed: bytearray = msgspec.field(default_factory=bytearray)
    """The seat for each card, as far as proposed."""


class Drawn(msgspec.Struct, array_like=True):
    """A black card being resolved."""

    card: BlackCard
    drawer: int
    seen: Seats
    """Seats that know it, as bits; all of them once it is read aloud."""
    face_down: bool = False


class State(msgspec.Struct, array_like=True):
    phase: Phase
    active: int
    """Seat whose turn it is."""
    order: list[int]
    """Seats in clockwise order."""
    knights: list[Knight]
    white_pile: WhitePile
    """The top is the last one, in both piles."""
    black_pile: BlackPile
    white_discards: WhiteCards
    black_discards: BlackCards
    spare_coats: Annotated[bytearray, Pieces(Coat, "coats")]
    spare_loyalty: Annotated[bytearray, Pieces(Loyalty, "loyalty", zero=True)]
    """Loyalty cards nobody got, seen by nobody (R2.7)."""
    black_knight: Combat
    lancelot: Combat
    dragon: Combat
    excalibur: int
    """The sword's step on the river, 0 at evil's end."""
    grail: Annotated[bytearray, Pieces(Card)]
    """The row from the Grail figure outward: 0 empty, else a card."""
    despairs: bytearray
    """Slots of the Despairs on the row, in the order they were laid."""
    pict_war: War
    saxon_war: War
    over: Annotated[int, Bits(Place)] = 0
    """Quests that left play, as bits by place."""
    white_swords: int = 0
    black_swords: int = 0
    engines: int = 0
    relics: Annotated[list[int], ByPiece(Relic, NOBODY)] = msgspec.field(default_factory=lambda: [NOBODY] * 4)
    """Owner's seat by relic."""
    heroism: Place = Place.NOWHERE
    vivien: bool = False
    dark_forest: bool = False
    mists: int = 0
    turn: Turn = msgspec.field(default_factory=Turn)
    pool: Pool | None = None
    drawn: list[Drawn] = msgspec.field(default_factory=list)
    """Black cards being resolved, the last one first in hand (B8 has others resolved within it)."""
    played: Annotated[int, Pieces(Card)] = 0
    """The special white card being resolved (R17.2)."""
    turns: int = 0
    """Turns completed."""
    ending: Annotated[int, Pieces(Ending)] = 0
    rolls: bytearray = msgspec.field(default_factory=bytearray)
    """Rolls of the die that a position fixes, the next one first; then chance rolls."""

    def combat(self, quest: Place) -> Combat:
        if quest == Place.BLACK_KNIGHT:
            return self.black_knight
        return self.lancelot if quest == Place.LANCELOT else self.dragon

    def war(self, quest: Place) -> War:
        return self.pict_war if quest == Place.PICT_WAR else self.saxon_war


def empty_combat(quest: Place) -> Combat:
    return Combat([bytearray() for _ in QUEST_FIGURES[quest].groups], [])
