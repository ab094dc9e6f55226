"""Putting any situation of Shadows over Camelot on the table, and playing from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import pytest

from engine.camelot.camelot import Camelot
from engine.camelot.game import CAMELOT
from engine.camelot.pieces import Card
from engine.camelot.state import Knight, State
from engine.core.errors import Reason, Refusal
from engine.core.events import Event, kind_of
from engine.core.positions import set_up
from engine.core.table import Step, Table

E = TypeVar("E", bound=Event)

COATS = ("arthur", "gawain", "galahad", "kay", "palamedes", "percival", "tristan")


def cards(text: str) -> list[str]:
    """Card names from words: `"merlin*3 fight_1"` is three Merlins and a Fight 1."""
    names: list[str] = []
    for word in text.split():
        name, _, copies = word.partition("*")
        names += [name] * int(copies or 1)
    return names


def names(pile: bytes | bytearray) -> list[str]:
    """Card names of a pile, a hand or a row, "" for an empty slot."""
    return [Card(card).name.lower() if card else "" for card in pile]


def laid(text: str) -> list[dict[str, str]]:
    """Black cards face up on a combat quest, as its fact `black` takes them."""
    return [{"card": name} for name in cards(text)]


def knight(coat: str, hand: str = "", **facts: Any) -> dict[str, Any]:
    """A loyal knight, unless told otherwise."""
    return {"coat": coat, "hand": cards(hand), "traitor": False, **facts}


QUESTS_OF_RELICS = {"excalibur": "excalibur", "lancelots_armor": "lancelot", "holy_grail": "grail"}


def situation(*knights: dict[str, Any], options: Mapping[str, str] | None = None, seed: int = 1, **facts: Any) -> Table:
    """A table with these knights by seat (at least three); seat 0 is active, in his evil phase, unless told otherwise.

    Facts are those of a position, and: card lists may be given as words, quests are over whose relics are owned, and

    white_top, black_top: what lies on a pile, top first, over the other cards
    white_pile_size, black_pile_size: so many cards are in a pile, the others are discarded
    """
    for colour in ("white", "black"):
        top, discards, size = (facts.pop(f"{colour}_{name}", "") for name in ("top", "discards", "pile_size"))
        pile = cards(top) if isinstance(top, str) else list(top)
        discarded = cards(discards) if isinstance(discards, str) else list(discards)
        if isinstance(size, int):
            facts[f"{colour}_pile"] = pile + ["?"] * (size - len(pile))
            discarded.append("...")
        else:
            facts[f"{colour}_pile"] = [*pile, "..."]
        facts[f"{colour}_discards"] = discarded
    facts["over"] = sorted({*facts.get("over", ()), *(QUESTS_OF_RELICS[relic] for relic in facts.get("relics", ()))})
    return set_up(CAMELOT, {"phase": "evil", "active": 0, "knights": list(knights), **facts}, options, seed)


def fillers(number: int, *taken: str) -> list[dict[str, Any]]:
    """Further knights with empty hands in Camelot, of coats not taken."""
    return [knight(coat) for coat in COATS if coat not in taken][:number]


def offered(table: Table, seat: int) -> list[str]:
    """Ids of the options the seat is asked to choose from; empty when it is not asked."""
    question = table.question(seat)
    return [] if question is None else [option.id for option in question.options]


def asks(table: Table) -> tuple[tuple[int, ...], str]:
    """Which seats are asked, and what."""
    question = table.question(table.asked[0])
    assert question is not None
    return table.asked, question.key


def pick(table: Table, seat: int, *picks: str) -> Step:
    """The seat's answer to its open decision."""
    return table.answer(seat, table.decision, picks)


def play(table: Table, *picks: str) -> Step:
    """Answers of one pick each, by whichever seat alone is asked; what the last of them led to."""
    for each in picks:
        (seat,) = table.asked
        step = pick(table, seat, each)
    return step


def refusal(table: Table, seat: int, *picks: str) -> tuple[Reason, str]:
    """Why the table does not take this answer, by reason and rule; it stays as it was."""
    before = table.save()
    with pytest.raises(Refusal) as refused:
        pick(table, seat, *picks)
    assert table.save() == before
    return refused.value.reason, refused.value.rule


def kinds(step: Step) -> list[str]:
    """Kinds of the events, in order."""
    return [kind_of(type(told.public)) for told in step.told]


def seen(step: Step, kind: type[E], seat: int | None = None) -> list[E]:
    """The events of a kind in the form that a seat (None: a spectator) sees."""
    return [event for told in step.told if isinstance(event := told.seen_by(seat), kind)]


def game_of(table: Table) -> Camelot:
    assert isinstance(table.play, Camelot)
    return table.play


def state_of(table: Table) -> State:
    return game_of(table).state


def knight_of(table: Table, seat: int) -> Knight:
    return state_of(table).knights[seat]


def hand_of(table: Table, seat: int) -> list[str]:
    return names(knight_of(table, seat).hand)
