"""Random play of any game in the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

import pytest

from engine.catalogue import GAMES
from engine.core.chance import Seed
from engine.core.decisions import Option, Question
from engine.core.errors import Refusal
from engine.core.games import AnyGame
from engine.core.table import Step, Table

every_game = pytest.mark.parametrize("game", [pytest.param(game, id=game.id) for game in GAMES])
every_size = pytest.mark.parametrize(
    ("game", "seats"), [pytest.param(game, seats, id=f"{game.id}-{seats}") for game in GAMES for seats in game.seats]
)

ENDLESS = 20_000
"""Inputs after which a random game counts as one that does not end."""


class Move(NamedTuple):
    """An input, so that it can be given to two tables alike: an answer, standing orders, a coming or a going, else a
    default."""

    seat: int
    picks: tuple[str, ...] | None = None
    orders: Mapping[str, str] | None = None
    leaves: bool = False
    joins: bool = False
    """A newcomer gets the seat."""

    def apply(self, table: Table) -> Step:
        if self.leaves:
            return table.leave(self.seat)
        if self.joins:
            return table.join()
        if self.picks is not None:
            return table.answer(self.seat, table.decision, self.picks)
        if self.orders is not None:
            return table.set_orders(self.seat, self.orders)
        return table.answer_default(self.seat, table.decision)


def deal(game: AnyGame, seats: int, seed: int, options: Mapping[str, str] | None = None) -> Table:
    return Table.new(game, seats, options or {}, Seed.fixed(seed))[0]


def seats_of(table: Table) -> list[int]:
    return list(table.game.seats_of(table.play))


def viewers(table: Table) -> list[int | None]:
    """Every seat, and a spectator."""
    return [*seats_of(table), None]


def random_options(game: AnyGame, random: Random) -> dict[str, str]:
    return {option.id: random.choice(option.values) for option in game.options}


def random_picks(question: Question[Any], random: Random) -> tuple[str, ...]:
    """A legal answer. One pick is chosen by its verb as often as among all, so that rare verbs have their day."""
    alone = [option for option in question.options if option.alone]
    others = [option for option in question.options if not option.alone]
    if question.most == 1 == question.least:
        return (one_of(question.options, random).id,)
    if alone and (len(others) < max(1, question.least) or random.random() < 0.2):
        return (random.choice(alone).id,)
    number = random.randint(question.least, min(question.most, len(others)))
    places = random.sample(range(len(others)), number)
    return tuple(others[place].id for place in (places if question.ordered else sorted(places)))


def one_of(options: tuple[Option, ...], random: Random) -> Option:
    if random.random() < 0.5:
        return random.choice(options)
    verbs = sorted({verb(option) for option in options})
    wanted = random.choice(verbs)
    return random.choice([option for option in options if verb(option) == wanted])


def verb(option: Option) -> str:
    return option.id.partition(":")[0]


def random_move(table: Table, random: Random) -> Move:
    """Mostly an answer; now and then a default, or standing orders for what is asked."""
    seat = random.choice(table.asked)
    question = table.question(seat)
    assert question is not None
    kind = random.random()
    if kind < 0.04:
        return Move(seat)
    if kind < 0.06:
        return Move(seat, orders={question.key: random.choice(question.options).id})
    if kind < 0.08:
        return Move(seat, orders={})
    return Move(seat, random_picks(question, random))


def goings(table: Table) -> list[Move]:
    """Each seat that may leave now."""
    if table.outcome is not None:
        return []
    return [Move(seat, leaves=True) for seat in seats_of(table) if not refused(table.game.may_leave, table.play, seat)]


def comings(table: Table) -> list[Move]:
    """The newcomer who may join now, if one may."""
    if table.outcome is not None or refused(table.game.may_join, table.play):
        return []
    return [Move(table.game.may_join(table.play), joins=True)]


def refused(may: Callable[..., object], *arguments: object) -> bool:
    try:
        may(*arguments)
    except Refusal:
        return True
    return False


def moves(table: Table, random: Random, restlessness: float = 0) -> Iterator[Move]:
    """Random moves to the end of the game; the caller applies each before asking for the next.

    Args:
        restlessness: how often a seat leaves, and how often one joins, in the place of an answer; from 0 to 0.5.
    """
    for _ in range(ENDLESS):
        if table.outcome is not None:
            return
        chance = random.random() if restlessness else 1
        come_or_go = goings(table) if chance < restlessness else comings(table) if chance < 2 * restlessness else []
        yield random.choice(come_or_go) if come_or_go else random_move(table, random)
    pytest.fail(f"{table.game.id} did not end within {ENDLESS} inputs")
