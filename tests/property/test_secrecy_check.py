"""The check of secrecy finds leaks of every sort: games that leak on purpose, and ways of telling too much."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from engine.core.chance import Seed
from engine.core.decisions import CHECKPOINT, Script, ask, ask_all, question
from engine.core.errors import Reason, Refusal
from engine.core.events import Event, Told
from engine.core.games import AnyGame, Outcome, Play
from engine.core.positions import faults_of
from engine.core.table import Table
from tests.property.playing import deal, every_game, moves
from tests.property.secrecy import Position, leaks
from tests.unit.core.toy import (
    ABSTAIN,
    BOAST,
    EXCHANGE,
    RANK,
    VOICES,
    VOTE,
    Rolled,
    Toy,
    ToyPlay,
    ToyView,
    VoteClosed,
)


def all_leaks(table: Table, random: Random) -> Iterator[str]:
    position = Position.of(table)
    assert position is not None
    for viewer in (*range(len(table.play.state.numbers)), None):
        for _ in range(10):
            yield from leaks(position, viewer, random)


def leaks_of(game: AnyGame) -> set[str]:
    """What sorts of leaks are found at the first position of a game of two."""
    table, _ = Table.new(game, 2, {}, Seed.fixed(1))
    return {leak.partition("]: ")[2] or leak for leak in all_leaks(table, Random(1))}


def with_script(script: Callable[[ToyPlay], Script]) -> AnyGame:
    class Scripted(Toy):
        def script(self, play: Any) -> Script:
            yield from script(play)
            return Outcome("played_out", "T9", ())

        def may_leave(self, play: Any, seat: int) -> None:
            raise Refusal(Reason.SEATS_FIXED, "these scripts do not reckon with it")

    return Scripted()


def test_the_game_itself_does_not_leak() -> None:
    assert leaks_of(Toy()) == set()


def test_a_view_that_shows_anothers_number_is_found() -> None:
    class Showing(Toy):
        def view(self, play: ToyPlay, seat: int | None) -> ToyView:
            return super().view(play, 0)

    assert any(leak.startswith("view") for leak in leaks_of(Showing()))


def test_asking_only_those_who_could_act_is_found() -> None:
    def script(g: ToyPlay) -> Script:
        able = [seat for seat in g.state.seats if g.state.numbers[seat] >= 5]
        yield from ask_all(question(seat, "vote", [ABSTAIN]) for seat in [0, *able])

    assert any(leak.startswith("asked") for leak in leaks_of(with_script(script)))


def test_options_that_depend_on_anothers_number_are_found() -> None:
    def script(g: ToyPlay) -> Script:
        yield from ask(0, "topic", [VOTE, RANK] if g.state.numbers[1] >= 5 else [VOTE, EXCHANGE])

    assert any(leak.startswith("question") for leak in leaks_of(with_script(script)))


def test_a_default_that_depends_on_anothers_number_is_found() -> None:
    def script(g: ToyPlay) -> Script:
        yield from ask(0, "topic", [VOTE, RANK], prefer=[RANK] if g.state.numbers[1] >= 5 else [VOTE])

    assert any(leak.startswith("question") for leak in leaks_of(with_script(script)))


def test_a_skipped_ask_is_found() -> None:
    def script(g: ToyPlay) -> Script:
        yield from ask(0, "topic", [VOTE])
        if g.state.numbers[0] >= 5:
            yield from ask(0, "topic", [VOTE])
        yield CHECKPOINT
        yield from ask(0, "topic", [VOTE])

    assert any(leak.startswith("decision") for leak in leaks_of(with_script(script)))


def test_an_event_that_tells_too_much_is_found() -> None:
    def script(g: ToyPlay) -> Script:
        yield from ask(0, "topic", [VOTE])
        g.tell(Rolled(g.state.numbers[0], rule="T1"))
        yield from ask(0, "topic", [VOTE])

    found = leaks_of(with_script(script))
    assert any(leak.startswith("event") for leak in found)


def test_an_event_told_only_now_and_then_is_found() -> None:
    def script(g: ToyPlay) -> Script:
        yield from ask(0, "topic", [VOTE])
        if g.state.numbers[1] >= 5:
            g.tell(VoteClosed(True, rule="T4"))
        yield from ask(0, "topic", [VOTE])

    assert any(leak.startswith("event") for leak in leaks_of(with_script(script)))


def test_a_leak_after_some_inputs_is_found() -> None:
    def script(g: ToyPlay) -> Script:
        for _ in range(3):
            yield from ask(1, "vote", [ABSTAIN, VOICES[1]])
        seats = [0] if g.state.numbers[1] >= 5 else [0, 1]
        yield from ask_all(question(seat, "vote", [ABSTAIN]) for seat in seats)

    assert any(leak.startswith("asked") for leak in leaks_of(with_script(script)))


def test_chance_that_depends_on_a_secret_is_found() -> None:
    def script(g: ToyPlay) -> Script:
        yield from ask(0, "topic", [VOTE, BOAST])
        for _ in range(g.state.numbers[0]):
            g.chance.die(6)
        g.tell(Rolled(g.chance.die(6), rule="T1"))
        yield from ask(0, "topic", [VOTE, BOAST])

    assert any(leak.startswith("event") for leak in leaks_of(with_script(script)))


# The games of the registry, made to leak


def found_in_play(game: AnyGame, viewer: int | None) -> list[str]:
    """Leaks at some positions of random games."""
    random = Random(1)
    found: list[str] = []
    for number in range(4):
        table = deal(game, game.seats.start, number)
        for move in moves(table, random):
            move.apply(table)
            position = Position.of(table)
            if position is not None and random.random() < 0.3:
                found += leaks(position, viewer, random)
    return found


@every_game
def test_a_view_of_another_seat_is_found(game: AnyGame, monkeypatch: pytest.MonkeyPatch) -> None:
    view = type(game).view
    monkeypatch.setattr(type(game), "view", lambda self, play, seat: (view(self, play, seat), view(self, play, 0)))
    assert any("view" in leak for leak in found_in_play(game, 1))
    assert any("view" in leak for leak in found_in_play(game, None))


@every_game
def test_private_forms_told_to_everybody_are_found(game: AnyGame, monkeypatch: pytest.MonkeyPatch) -> None:
    def tell_all(play: Play[Any, Any], public: Event, private: dict[int, Event]) -> None:
        play.told.append(Told(next(iter(private.values()), public)))

    monkeypatch.setattr(Play, "tell_some", tell_all)
    monkeypatch.setattr(type(game), "reveals", lambda self: frozenset())
    assert any("event" in leak for leak in found_in_play(game, None))


@every_game
def test_redealing_changes_what_is_hidden_and_nothing_else(game: AnyGame) -> None:
    """Else the check would compare a table with itself, or with one that cannot be."""
    random = Random(1)
    table = deal(game, game.seats.start, 1)
    changed = 0
    positions = [position for position in (Position.of(table),) if position is not None]
    for move in moves(table, random):
        move.apply(table)
        position = Position.of(table)
        if position is not None:
            positions.append(position)
    for position in positions:
        for viewer in (*game.seats_of(table.play), None):
            redealt = position.redealt(viewer, random)
            assert faults_of(game, redealt.play) == []
            changed += redealt.save() != position.as_dealt().save()
    assert changed > len(positions) * len(game.seats_of(table.play)) * 0.9
