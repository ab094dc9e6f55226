"""What a seat could learn of what it must not know: the same table played with two deals that look alike to it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from random import Random
from typing import Any, NamedTuple

from engine.core.chance import SECRET_BYTES, Chance, Seed
from engine.core.games import AnyGame, Registry
from engine.core.table import Step, Table
from tests.property.playing import Move, goings, random_picks
from tests.property.test_saving import of_question

SEVERAL = 4
"""Answers tried where several options are picked at once."""
FURTHER = 3
"""Inputs played on after each answer, as long as nothing has been revealed."""


class Position(NamedTuple):
    """A moment of a game in which no rule was half-way through."""

    game: AnyGame
    options: Any
    seed: Seed
    state: bytes
    used: int

    @classmethod
    def of(cls, table: Table) -> Position | None:
        """Where the table stands, if no input came since its last checkpoint and the game goes on."""
        if table._since or table.outcome is not None:
            return None
        return cls(table.game, table.play.options, table.seed, table._mark.state, table._mark.used)

    def as_dealt(self) -> Table:
        return self.begin(self.game.decode_state(self.state))

    def redealt(self, viewer: int | None, random: Random) -> Table:
        """The table with everything rearranged that the viewer cannot know."""
        state = self.game.decode_state(self.state)
        chance = Chance(Seed(random.randbytes(SECRET_BYTES)))
        self.game.redeal(self.game.play(state, self.options, chance), viewer, chance)
        return self.begin(state)

    def begin(self, state: Any) -> Table:
        return Table.begin(self.game, state, self.options, self.seed, Chance(self.seed, self.used))[0]


def leaks(position: Position, viewer: int | None, random: Random) -> Iterator[str]:
    """Each difference that the viewer could see between the deal and another that it cannot tell from it."""
    dealt, redealt = position.as_dealt(), position.redealt(viewer, random)
    now = list(compare(dealt, redealt, viewer))
    yield from now
    if now:
        return
    games = Registry([dealt.game])
    saved, resaved = dealt.save(), redealt.save()
    for move in shared_moves(dealt, redealt, random):
        yield from play_on(Table.load(games, saved), Table.load(games, resaved), viewer, move, random)


def compare(dealt: Table, redealt: Table, viewer: int | None) -> Iterator[str]:
    """What must be equal while nothing was revealed."""
    if dealt.asked != redealt.asked:
        yield f"asked: {dealt.asked}, {redealt.asked}"
    if dealt.decision != redealt.decision:
        yield f"decision: {dealt.decision}, {redealt.decision}"
    if dealt.view(viewer) != redealt.view(viewer):
        yield f"view: {dealt.view(viewer)}, {redealt.view(viewer)}"
    if viewer is not None and of_question(dealt.question(viewer)) != of_question(redealt.question(viewer)):
        yield f"question: {of_question(dealt.question(viewer))}, {of_question(redealt.question(viewer))}"


def shared_moves(dealt: Table, redealt: Table, random: Random) -> Iterator[Move]:
    """Every answer that can be given with either deal; of answers with several picks, some; and that a seat leaves."""
    for seat in dealt.asked:
        one, other = dealt.question(seat), redealt.question(seat)
        assert one is not None
        assert other is not None
        if one.most == 1 == one.least:
            offered = {option.id for option in other.options}
            yield from (Move(seat, (option.id,)) for option in one.options if option.id in offered)
            continue
        for _ in range(SEVERAL):
            picks = random_picks(one, random)
            if is_legal(redealt, seat, picks):
                yield Move(seat, picks)
    if gone := [move for move in goings(dealt) if move in goings(redealt)]:
        yield random.choice(gone)


def is_legal(table: Table, seat: int, picks: tuple[str, ...]) -> bool:
    question = table.question(seat)
    assert question is not None
    ids = [option.id for option in question.options]
    if not set(picks) <= set(ids):
        return False
    places = [ids.index(each) for each in picks]
    alone = len(picks) == 1 and question.options[places[0]].alone
    number = alone or question.least <= len(picks) <= question.most
    return number and (question.ordered or places == sorted(places))


def play_on(dealt: Table, redealt: Table, viewer: int | None, move: Move, random: Random) -> Iterator[str]:
    """Gives the same inputs to both tables until something is revealed."""
    played = []
    for _ in range(1 + FURTHER):
        played.append(move)
        one, other = move.apply(dealt), move.apply(redealt)
        revealed, leaked = compare_events(dealt.game, one, other, viewer)
        found = [] if revealed else [*leaked, *compare(dealt, redealt, viewer)]
        yield from (f"after {played}: {leak}" for leak in found or leaked)
        if revealed or found:
            return
        following = list(shared_moves(dealt, redealt, random))
        if not following:
            return
        move = random.choice(following)


def compare_events(game: AnyGame, one: Step, other: Step, viewer: int | None) -> tuple[bool, list[str]]:
    """Whether a rule revealed something, and what differs before it did."""
    reveals = game.reveals()
    for told, retold in zip_longest(one.told, other.told):
        event = told.seen_by(viewer) if told else None
        again = retold.seen_by(viewer) if retold else None
        if event == again:
            continue
        if type(event) in reveals or type(again) in reveals:
            return True, []
        return False, [f"event: {event}, {again}"]
    return False, []
