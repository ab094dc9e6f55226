"""What a seat is told of a candidate depends on nothing that it cannot know."""

from __future__ import annotations

from random import Random

from engine.core.decisions import Explanation
from engine.core.errors import Reason, Refusal
from engine.core.games import AnyGame
from engine.core.table import Table
from tests.property.playing import deal, every_size, moves
from tests.property.secrecy import Position


def explanations(table: Table, seat: int, candidates: set[str]) -> list[Explanation | Reason]:
    return [explained(table, seat, candidate) for candidate in sorted(candidates)]


def explained(table: Table, seat: int, candidate: str) -> Explanation | Reason:
    try:
        return table.explain(seat, candidate)
    except Refusal as refusal:
        return refusal.reason


@every_size
def test_explanations_hold_nothing_hidden(game: AnyGame, seats: int) -> None:
    random = Random(seats)
    candidates: set[str] = set()
    positions: list[Position] = []
    for seed in range(2):
        table = deal(game, seats, 100 * seats + seed)
        for move in moves(table, random):
            candidates |= {option.id for seat in table.asked for option in getattr(table.question(seat), "options", ())}
            if (position := Position.of(table)) is not None and random.random() < 0.15:
                positions.append(position)
            move.apply(table)
    assert positions
    for position in positions:
        dealt = position.as_dealt()
        for seat in range(seats):
            redealt = position.redealt(seat, random)
            assert explanations(redealt, seat, candidates) == explanations(dealt, seat, candidates)
