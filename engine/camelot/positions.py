"""A situation described by what differs from the set-up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from engine.camelot.pieces import (
    BLACK,
    CARD_FIGURES,
    FIGHTS,
    FIGURES,
    QUEST_FIGURES,
    WARS,
    WHITE,
    Card,
    Coat,
    Phase,
    Place,
    Relic,
    Standing,
)
from engine.camelot.state import Combat, Knight, Laid, Options, State, Turn, War, empty_combat
from engine.camelot.turns import deck
from engine.core.chance import Chance


class KnightFacts(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    coat: str
    life: int = FIGURES.life_start
    hand: list[str] = []
    place: str = "camelot"
    standing: str = "alive"
    traitor: bool = False
    shown: bool = False
    accused: bool = False


class LaidFacts(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    card: str
    face_down_by: int | None = None
    """The seat that laid it face down; face up without."""


class CombatFacts(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    white: list[list[str]] = []
    """Fight cards by group."""
    black: list[LaidFacts] = []
    """In the order they were laid."""


class WarFacts(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    run: int = 0
    warriors: int = 0
    mordred: bool = False


class TurnFacts(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    types: int = 0
    actions: int = 0
    sacrificed: bool = False
    paid_to_camelot: bool = False


class Facts(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Cards are named by kind. Cards named nowhere make up the piles, shuffled under what is set on top."""

    knights: list[KnightFacts]
    """By seat."""
    active: int = 0
    phase: str = "evil"
    turn: TurnFacts = msgspec.field(default_factory=TurnFacts)
    white_top: list[str] = []
    """Top of the white pile, top first."""
    black_top: list[str] = []
    white_discards: list[str] = []
    black_discards: list[str] = []
    white_pile_size: int | None = None
    """Keeps so many cards in the white pile; the others are discarded."""
    black_pile_size: int | None = None
    black_knight: CombatFacts = msgspec.field(default_factory=CombatFacts)
    lancelot: CombatFacts = msgspec.field(default_factory=CombatFacts)
    dragon: CombatFacts = msgspec.field(default_factory=CombatFacts)
    excalibur: int = QUEST_FIGURES[Place.EXCALIBUR].track_start
    grail: list[str] = []
    """Slots from the Grail outward: "grail", "despair", "desolation" or "" for an empty one."""
    pict_war: WarFacts = msgspec.field(default_factory=WarFacts)
    saxon_war: WarFacts = msgspec.field(default_factory=WarFacts)
    over: list[str] = []
    white_swords: int = 0
    black_swords: int = 0
    engines: int = 0
    relics: dict[str, int] = {}
    """Owner's seat by relic."""
    heroism: str = "nowhere"
    vivien: bool = False
    dark_forest: bool = False
    mists: bool = False
    rolls: list[int] = []
    """The next rolls of the eight-sided die."""


def build(given: Mapping[str, Any], options: Options, chance: Chance) -> State:
    facts = msgspec.convert(given, Facts)
    white, black = Box(WHITE), Box(BLACK)
    knights = [knight(seat, each, white) for seat, each in enumerate(facts.knights)]
    combats = {
        quest: combat(quest, getattr(facts, quest.name.lower()), white, black)
        for quest in (Place.BLACK_KNIGHT, Place.LANCELOT, Place.DRAGON)
    }
    wars = {place: war(place, getattr(facts, place.name.lower()), white, black) for place in WARS}
    row = bytearray(QUEST_FIGURES[Place.GRAIL].row_slots)
    for slot, name in enumerate(facts.grail):
        if name:
            row[slot] = (white if name == "grail" else black).take(name)
    for card, lies in ((Card.VIVIEN, facts.vivien), (Card.DARK_FOREST, facts.dark_forest)):
        if lies:
            black.take(card.name)
    if facts.mists:
        black.take(Card.MISTS_OF_AVALON.name)
    heroism = Place[facts.heroism.upper()]
    if heroism:
        white.take(Card.HEROISM.name)
    white_pile, white_discards = white.piles(facts.white_top, facts.white_discards, facts.white_pile_size, chance)
    black_pile, black_discards = black.piles(facts.black_top, facts.black_discards, facts.black_pile_size, chance)
    state = State(
        phase=Phase[facts.phase.upper()],
        active=facts.active,
        order=list(range(len(knights))),
        knights=knights,
        white_pile=white_pile,
        black_pile=black_pile,
        white_discards=white_discards,
        black_discards=black_discards,
        spare_coats=bytearray(coat for coat in Coat if coat and coat not in [each.coat for each in knights]),
        spare_loyalty=bytearray(FIGURES.loyalty_total - len(knights)),
        black_knight=combats[Place.BLACK_KNIGHT],
        lancelot=combats[Place.LANCELOT],
        dragon=combats[Place.DRAGON],
        excalibur=facts.excalibur,
        grail=row,
        despairs=bytearray(slot for slot, card in enumerate(row) if card == Card.DESPAIR),
        picts=wars[Place.PICT_WAR],
        saxons=wars[Place.SAXON_WAR],
        over=sum(1 << Place[name.upper()] for name in facts.over),
        white_swords=facts.white_swords,
        black_swords=facts.black_swords,
        engines=facts.engines,
        heroism=heroism,
        vivien=facts.vivien,
        dark_forest=facts.dark_forest,
        mists=int(facts.mists),
        turn=Turn(
            types=facts.turn.types,
            actions=facts.turn.actions,
            sacrificed=facts.turn.sacrificed,
            paid_to_camelot=facts.turn.paid_to_camelot,
        ),
        rolls=bytearray(facts.rolls),
    )
    for name, seat in facts.relics.items():
        state.relics[Relic[name.upper()]] = seat
    return state


class Box:
    """Cards of a colour that lie nowhere yet."""

    def __init__(self, kinds: tuple[Card, ...]) -> None:
        self.left = deck(kinds)

    def take(self, name: str) -> Card:
        card = Card[name.upper()]
        if card not in self.left:
            raise ValueError(f"there are only {CARD_FIGURES[card].copies} of {name.lower()}")
        self.left.remove(card)
        return card

    def take_all(self, names: Iterable[str]) -> bytearray:
        return bytearray(self.take(name) for name in names)

    def piles(
        self, top: list[str], discarded: list[str], size: int | None, chance: Chance
    ) -> tuple[bytearray, bytearray]:
        """The draw pile, its top last, and the discards."""
        upper, discards = self.take_all(reversed(top)), self.take_all(discarded)
        chance.shuffle(self.left)
        if size is not None:
            kept = max(0, size - len(upper))
            discards += self.left[kept:]
            del self.left[kept:]
        return self.left + upper, discards


def knight(seat: int, facts: KnightFacts, white: Box) -> Knight:
    return Knight(
        seat,
        Coat[facts.coat.upper()],
        facts.life,
        facts.traitor,
        bytearray(sorted(white.take_all(facts.hand))),
        Place[facts.place.upper()],
        Standing[facts.standing.upper()],
        shown=facts.shown,
        accused=facts.accused,
    )


def combat(quest: Place, facts: CombatFacts, white: Box, black: Box) -> Combat:
    combat = empty_combat(quest)
    for group, names in zip(combat.white, facts.white, strict=False):
        group += white.take_all(names)
    for laid in facts.black:
        by = laid.face_down_by
        combat.black.append(Laid(black.take(laid.card), by is not None, 0 if by is None else 1 << by))
    return combat


def war(place: Place, facts: WarFacts, white: Box, black: Box) -> War:
    values = QUEST_FIGURES[place].run
    if facts.mordred:
        values += CARD_FIGURES[Card.MORDRED].params.extra_run_values
        black.take(Card.MORDRED.name)
    white.take_all(FIGHTS[value - 1].name for value in values[: facts.run])
    return War(facts.run, facts.warriors, facts.mordred)
