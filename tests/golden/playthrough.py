"""A whole game as text for people: every question with its options, every answer, and what each seat is told of it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from enum import IntEnum
from random import Random
from typing import Any, NamedTuple

import msgspec

from engine.catalogue import GAMES
from engine.core.chance import Seed
from engine.core.decisions import Option, Question
from engine.core.events import Event, Told, kind_of
from engine.core.table import Step, Table
from tests.property.playing import ENDLESS, random_picks

_INDENT = "    "


class Playthrough(NamedTuple):
    """Which game is played, by random answers that the seed repeats, but for what is seldom picked."""

    name: str
    game: str
    seats: int
    seed: int
    options: Mapping[str, str]
    seldom: frozenset[str] = frozenset()
    """Ids of options that are picked once in eight times that they would be, so that the game does not end early."""

    def lines(self) -> Iterator[str]:
        """The game's text; the legend at its end says of every option met what it means and which rule allows it."""
        chosen = ", ".join(f"{name} {value}" for name, value in self.options.items()) or "as usual"
        yield f"{self.game}, {self.seats} seats, seed {self.seed}; options: {chosen}"
        random = Random(self.seed)
        legend: dict[str, Option] = {}
        table, begun = Table.new(GAMES.get(self.game), self.seats, self.options, Seed.fixed(self.seed))
        yield from _told(begun)
        for _ in range(ENDLESS):
            if table.outcome is not None:
                break
            seat = random.choice(table.asked)
            question = table.question(seat)
            assert question is not None
            yield from _asked(question, table.asked)
            legend.update((option.id, option) for option in question.options)
            picks = self._picks(question, random)
            step = table.answer(seat, table.decision, picks)
            yield _filled(f"{_INDENT}seat {seat} picks ", ", ".join(picks) or "nothing")
            yield from _told(step)
        outcome = table.outcome
        assert outcome is not None
        winners = ", ".join(map(str, outcome.winners)) or "nobody"
        yield f"ended by {outcome.ending} ({outcome.rule}); won by {winners}"
        yield ""
        yield from (f"{option.id}: {option.title} ({option.rule})" for _, option in sorted(legend.items()))

    def _picks(self, question: Question[Any], random: Random) -> tuple[str, ...]:
        for _ in range(8):
            picks = random_picks(question, random)
            if self.seldom.isdisjoint(picks):
                break
        return picks


def _asked(question: Question[Any], asked: tuple[int, ...]) -> Iterator[str]:
    number = "" if question.least == question.most == 1 else f", {question.least} to {question.most}"
    order = " in order" if question.ordered else ""
    others = [str(seat) for seat in asked if seat != question.seat]
    along = f", as are {', '.join(others)}" if others else ""
    yield f"seat {question.seat} is asked {question.key}{number}{order}{along}"
    yield _filled(f"{_INDENT}of ", ", ".join(option.id for option in question.options))
    yield _filled(f"{_INDENT}else ", ", ".join(question.options[place].id for place in question.default) or "nothing")


def _told(step: Step) -> Iterator[str]:
    for told in step.told:
        yield _filled(f"{_INDENT}* ", event_text(told.public))
        yield from _fuller(told)


def _fuller(told: Told) -> Iterator[str]:
    for seat, event in sorted((told.private or {}).items()):
        yield _filled(f"{_INDENT}  seat {seat} sees ", event_text(event))


def event_text(event: Event) -> str:
    """`life_changed seat 2, life 3 (R4.4)`: the kind, the fields that are not at their default, and the rule."""
    fields = ", ".join(
        f"{field.name} {_text(value)}"
        for field in msgspec.structs.fields(event)
        if field.name != "rule" and (value := getattr(event, field.name)) != field.default
    )
    return f"{kind_of(type(event))} {fields} ({event.rule})"


def _text(value: Any) -> str:
    match value:
        case IntEnum():
            return value.name.lower()
        case tuple() | list():
            return f"[{', '.join(map(_text, value))}]"
        case msgspec.Struct():
            return _text(msgspec.structs.astuple(value))
        case _:
            return str(value)


def _filled(first: str, text: str) -> str:
    return textwrap.fill(
        text, 120, initial_indent=first, subsequent_indent=_INDENT * 2, break_long_words=False, break_on_hyphens=False
    )
