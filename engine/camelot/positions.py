"""What a described situation leaves out, and which pieces it may have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.camelot.camelot import Camelot
from engine.camelot.invariants import black_cards, white_cards
from engine.camelot.pieces import BLACK, CARD_FIGURES, FIGURES, QUEST_FIGURES, WHITE, Card, Coat, Loyalty, Place
from engine.camelot.state import Combat, Options, State
from engine.camelot.turns import deal, deck, loyalty_deck
from engine.core.chance import Chance, Seed
from engine.core.facts import ANY, REST, Deck, form_of

FORM = form_of(State)
DEALT = {"coat": ANY, "traitor": ANY}
GONE: dict[str, Any] = {"life": 0, "hand": [], "place": "nowhere"}
"""What is left of a knight who is dead or unmasked."""


def set_up(given: Mapping[str, Any], seats: int, options: Options) -> dict[str, Any]:
    """Facts of the set-up (section 2), with whatever is dealt there still to be dealt around the given facts."""
    facts: dict[str, Any] = FORM.write(deal(seats, options, Chance(Seed.fixed(0))))
    merlins = max(0, CARD_FIGURES[Card.MERLIN].copies - count(given, "merlin"))
    knights = as_list(given.get("knights"))
    for knight, told in zip(facts["knights"], [*knights, *[{}] * seats], strict=False):
        told = told if isinstance(told, dict) else {}
        knight |= DEALT if knight["coat"] != "none" else {"traitor": ANY}
        if told.get("standing", "alive") != "alive":
            knight |= GONE
        else:
            opening = min(FIGURES.opening_merlins, merlins) if "hand" not in told else 0
            merlins -= opening
            knight["hand"] = ["merlin"] * opening + [ANY] * (len(knight["hand"]) - opening)
        if told.get("coat") == "arthur":
            facts["active"] = knight["seat"]
    for zone, other in (
        ("white_pile", "white_discards"),
        ("black_pile", "black_discards"),
        ("spare_coats", ""),
        ("spare_loyalty", ""),
    ):
        facts[zone] = [] if REST in as_list(given.get(other)) else [REST]
    row = as_list(given.get("grail"))
    facts["despairs"] = [slot for slot in reversed(range(len(row))) if row[slot] == "despair"]
    return facts


def as_list(fact: Any) -> list[Any]:
    return fact if isinstance(fact, list) else []


def count(facts: Any, name: str) -> int:
    """How often a piece is named."""
    if isinstance(facts, dict):
        return sum(count(each, name) for each in facts.values())
    if isinstance(facts, list):
        return sum(count(each, name) for each in facts)
    return int(facts == name)


def tidy(state: State) -> None:
    """What people need not write: hands in order, groups and slots that are empty."""
    for knight in state.knights:
        knight.hand[:] = bytes(sorted(knight.hand))
    for quest in (Place.BLACK_KNIGHT, Place.LANCELOT, Place.DRAGON):
        combat: Combat = state.combat(quest)
        combat.white += [bytearray() for _ in QUEST_FIGURES[quest].groups[len(combat.white) :]]
    state.grail += bytes(max(0, QUEST_FIGURES[Place.GRAIL].row_slots - len(state.grail)))


def decks(g: Camelot) -> dict[str, Deck]:
    """The pieces that a game has in a certain number, and those that it has here."""
    state = g.state
    coats = bytearray(knight.coat for knight in state.knights if knight.coat)
    loyalties = bytearray(knight.traitor for knight in state.knights)
    return {
        "white": Deck(Card, deck(WHITE), white_cards(g)),
        "black": Deck(Card, deck(BLACK), black_cards(g)),
        "coats": Deck(Coat, one_of_each(Coat), coats + state.spare_coats),
        "loyalty": Deck(Loyalty, loyalty_deck(g.began_with, g.options), loyalties + state.spare_loyalty),
    }


def one_of_each(pieces: Iterable[int]) -> bytearray:
    return bytearray(piece for piece in pieces if piece)
