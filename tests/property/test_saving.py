"""A table that travels, or whose rules fail, is the table it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.catalogue import GAMES
from engine.core.chance import Chance
from engine.core.decisions import Question
from engine.core.errors import Reason, Refusal, RuleFault
from engine.core.games import AnyGame, Play, Registry
from engine.core.table import SCHEMA, Step, Table
from tests.property.playing import Move, deal, every_game, every_size, moves, random_options, seats_of, viewers

REFUSALS = {Reason.STATE_GARBLED, Reason.RULES_VERSION}


@every_size
@pytest.mark.parametrize("number", range(2))
def test_loading_at_every_decision_changes_nothing(game: AnyGame, seats: int, number: int) -> None:
    random = Random(f"saving {game.id} {seats} {number}")
    stays = deal(game, seats, number, random_options(game, random))
    travels = Table.load(GAMES, stays.save())
    for move in moves(stays, random):
        assert_same(travels, stays)
        told = move.apply(stays)
        assert move.apply(travels) == told
        saved = travels.save()
        travels = Table.load(GAMES, saved)
        assert travels.save() == saved
    assert_same(travels, stays)


def assert_same(one: Table, other: Table) -> None:
    assert one.save() == other.save()
    assert open_questions(one) == open_questions(other)
    assert one.decision == other.decision
    for viewer in viewers(one):
        assert one.view(viewer) == other.view(viewer)


def open_questions(table: Table) -> list[Any]:
    return [of_question(table.question(seat)) for seat in seats_of(table)]


def of_question(question: Question[Any] | None) -> Any:
    if question is None:
        return None
    options = [(option.id, option.rule, option.title, option.alone) for option in question.options]
    return (question.key, options, question.least, question.most, question.ordered, question.default)


# Errors inside a rule


class Injected(Exception):
    pass


class Trap:
    """Fails one of the next calls that rules make to the table, then lets them pass."""

    def __init__(self) -> None:
        self.calls_left: int | None = None

    def __call__(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            if self.calls_left is not None:
                self.calls_left -= 1
                if self.calls_left < 0:
                    self.calls_left = None
                    raise Injected
            return original(*arguments, **named)

        return call

    @contextmanager
    def set_after(self, calls: int) -> Iterator[None]:
        self.calls_left = calls
        try:
            yield
        finally:
            self.calls_left = None


@every_size
def test_an_error_inside_a_rule_leaves_the_table_as_it_was(
    game: AnyGame, seats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = Trap()
    for owner, name in ((Play, "tell"), (Play, "tell_some"), (Chance, "below")):
        monkeypatch.setattr(owner, name, trap(getattr(owner, name)))
    failed = 0
    for number in range(3):
        random = Random(f"faults {game.id} {seats} {number}")
        options = random_options(game, random)
        spared, struck = deal(game, seats, number, options), deal(game, seats, number, options)
        for move in moves(spared, random):
            before = struck.save()
            with trap.set_after(random.randrange(4)):
                step, cause = attempt(move, struck)
            if step is None:
                failed += 1
                assert isinstance(cause, Injected)
                assert struck.save() == before
                assert_same(struck, spared)
                step = move.apply(struck)
            assert step == move.apply(spared)
        assert_same(struck, spared)
    assert failed > 50


def attempt(move: Move, table: Table) -> tuple[Step | None, BaseException | None]:
    try:
        return move.apply(table), None
    except RuleFault as fault:
        return None, fault.__cause__


# Bytes that do not stand for what is loaded


def midway(game: AnyGame, inputs: int, seed: int = 1) -> Table:
    """A table some inputs into its game, with inputs since its last checkpoint if it ever has any."""
    table = deal(game, game.seats.start, seed)
    random = Random(seed)
    for _, move in zip(range(inputs), moves(table, random), strict=False):
        move.apply(table)
    return table


def assert_refused(data: bytes, games: Registry = GAMES, reasons: set[Reason] = REFUSALS) -> None:
    with pytest.raises(Refusal) as refused:
        Table.load(games, data)
    assert refused.value.reason in reasons
    assert refused.value.field == "state"


@every_game
def test_another_rules_version_is_refused(game: AnyGame) -> None:
    newer = type("Newer", (type(game),), {"rules_version": game.rules_version + 1})
    with pytest.raises(Refusal) as refused:
        Table.load(Registry([newer()]), midway(game, 20).save())
    assert refused.value.reason is Reason.RULES_VERSION
    assert refused.value.about == {"saved": str(game.rules_version), "here": str(game.rules_version + 1)}


@every_game
def test_every_flipped_byte_is_refused(game: AnyGame) -> None:
    data = midway(game, 30).save()
    for place in range(len(data)):
        assert_refused(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])


@every_game
def test_every_shortened_or_lengthened_table_is_refused(game: AnyGame) -> None:
    data = midway(game, 30).save()
    for length in range(len(data)):
        assert_refused(data[:length])
    assert_refused(data + b"\0")
    assert_refused(data + data)


@settings(derandomize=True)
@given(data=st.binary(max_size=400))
def test_bytes_from_anywhere_are_refused(data: bytes) -> None:
    assert_refused(data)
    assert_refused(closed(data))


def closed(content: bytes) -> bytes:
    """Content with the digest that closes saved bytes, as somebody might make it who knows the form."""
    return content + blake2b(content, digest_size=8).digest()


def content_of(table: Table) -> list[Any]:
    """What is saved after the byte that tells its form, as the list that it is encoded as."""
    fields: list[Any] = msgspec.msgpack.decode(table.save()[1:-8])
    return fields


def closed_content(fields: list[Any]) -> bytes:
    return closed(bytes((SCHEMA,)) + msgspec.msgpack.encode(fields))


@every_game
def test_another_checkpoint_is_refused(game: AnyGame) -> None:
    """The digests of the state and of what is asked stand for the whole table, whatever closes the bytes."""
    early, late = midway(game, 25), midway(game, 40)
    fields, others = content_of(early), content_of(late)
    changed = [place for place, (one, other) in enumerate(zip(fields, others, strict=True)) if one != other]
    mark = next(place for place in changed if isinstance(fields[place], list))
    assert Table.load(GAMES, closed_content(fields)).save() == early.save()
    fields[mark] = others[mark]
    assert_refused(closed_content(fields), reasons={Reason.RULES_VERSION})


@every_game
def test_another_form_of_saved_tables_is_refused(game: AnyGame) -> None:
    content = midway(game, 25).save()[:-8]
    assert_refused(closed(bytes((SCHEMA + 1,)) + content[1:]), reasons={Reason.RULES_VERSION})


@every_game
@settings(derandomize=True, max_examples=200)
@given(data=st.data())
def test_forged_content_is_refused_or_is_another_sound_table(game: AnyGame, data: st.DataObject) -> None:
    """Bytes changed by somebody who can close them again never raise anything but a refusal."""
    content = bytearray(midway(game, 30).save()[:-8])
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    table, refused = load(closed(bytes(content)))
    if table is None:
        assert refused in REFUSALS
    else:
        assert_same(Table.load(GAMES, table.save()), table)


def load(data: bytes) -> tuple[Table | None, Reason | None]:
    try:
        return Table.load(GAMES, data), None
    except Refusal as refused:
        return None, refused.reason
