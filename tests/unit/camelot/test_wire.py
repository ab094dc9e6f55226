"""Every value of Shadows over Camelot arrives in its message as it was, and nothing hidden arrives with it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from itertools import islice
from random import Random
from typing import Any, get_args, get_origin

import msgspec
import pytest
from google.protobuf.message import Message

from engine.camelot.choices import Choice
from engine.camelot.game import CAMELOT
from engine.camelot.view import CamelotView
from engine.camelot.wire import EVENTS, WIRE
from engine.core.chance import Seed
from engine.core.decisions import Option, Question
from engine.core.events import Event, Told, kind_of
from engine.core.table import Step, Table
from engine.core.wire import commitment, game_info
from roundtable.camelot.v1 import camelot_pb2
from roundtable.table.v1 import table_pb2
from tests.property.playing import deal, moves, seats_of, viewers


def value_of(kind: Any, travelled: Any) -> Any:
    """The engine's value that a message's field stands for."""
    items = get_args(kind)
    if get_origin(kind) is tuple:
        if isinstance(travelled, Message):
            inner = [getattr(travelled, field.name) for field in travelled.DESCRIPTOR.fields]
            travelled = inner[0] if items[1:] == (Ellipsis,) else inner
        kinds = (items[0],) * len(travelled) if items[1:] == (Ellipsis,) else items
        return tuple(value_of(each, item) for each, item in zip(kinds, travelled, strict=True))
    if type(None) in items:
        return None if travelled in (None, 0) and kind != bool | None else value_of(items[0], travelled)
    if isinstance(travelled, Message):
        return struct_of(kind, travelled)
    return kind(travelled)


def struct_of(struct: type[msgspec.Struct], message: Message, **known: object) -> msgspec.Struct:
    """The struct that a message stands for; `known` are fields that travel elsewhere."""
    values = dict(known)
    for field in msgspec.structs.fields(struct):
        if field.name in known:
            continue
        has_presence = message.DESCRIPTOR.fields_by_name[field.name].has_presence
        if has_presence and not message.HasField(field.name):
            values[field.name] = -1 if field.type is int else None
        else:
            kind = get_args(field.type)[0] if has_presence and type(None) in get_args(field.type) else field.type
            values[field.name] = value_of(kind, getattr(message, field.name))
    return struct(**values)


def event_of(event: table_pb2.Event) -> Event:
    detail = camelot_pb2.Event()
    assert event.detail.Unpack(detail)
    assert detail.WhichOneof("event") == event.kind
    kinds = {kind_of(each): each for each in EVENTS}
    found = struct_of(kinds[event.kind], getattr(detail, event.kind), rule=event.rule)
    assert isinstance(found, Event)
    return found


def view_of(view: table_pb2.View) -> msgspec.Struct:
    detail = camelot_pb2.View()
    assert view.detail.Unpack(detail)
    return struct_of(CamelotView, detail)


def question_of(decision: table_pb2.Decision) -> tuple[Any, ...]:
    detail = camelot_pb2.OptionReferences()
    assert decision.detail.Unpack(detail)
    options = tuple(
        struct_of(Choice, reference, id=option.id, rule=option.rule, title=option.title, alone=option.alone)
        for option, reference in zip(decision.options, detail.references, strict=True)
    )
    ids = [option.id for option in decision.options]
    default = tuple(ids.index(each) for each in decision.default)
    return (
        decision.seat,
        decision.key,
        [msgspec.structs.asdict(option) for option in options],
        decision.min,
        decision.max,
        decision.ordered,
        default,
    )


def contents(question: Question[Option]) -> tuple[Any, ...]:
    options = [msgspec.structs.asdict(option) for option in question.options]
    return (
        question.seat,
        question.key,
        options,
        question.least,
        question.most,
        question.ordered,
        question.default,
    )


def seen_by(table: Table, seat: int | None, told: list[Told]) -> table_pb2.Update:
    update = WIRE.update(table, told)
    if seat is not None:
        WIRE.add_private(update, table, seat, told)
    return update


def played(seats: int, seed: int) -> Iterator[tuple[Table, Step]]:
    """A table after each input of a random game."""
    table = deal(CAMELOT, seats, seed)
    for move in moves(table, Random(seed)):
        yield table, move.apply(table)


def sample(kind: Any) -> Any:
    """A value that is not the one a missing field stands for."""
    items = [item for item in get_args(kind) if item is not type(None)]
    if get_origin(kind) is tuple:
        return tuple(sample(item) for item in (items[:1] * 2 if items[1:] == [Ellipsis] else items))
    if items:
        return sample(items[0])
    if issubclass(kind, IntEnum):
        return list(kind)[-1]
    return kind(1)


every_size = pytest.mark.parametrize("seats", CAMELOT.seats)


@pytest.mark.parametrize("kind", EVENTS, ids=kind_of)
def test_every_field_of_every_event_arrives(kind: type[Event]) -> None:
    fields = msgspec.structs.fields(kind)
    full = kind(**{field.name: sample(field.type) for field in fields})
    scant = kind(**{field.name: sample(field.type) for field in fields if field.required})
    table = deal(CAMELOT, 3, seed=1)

    update = WIRE.update(table, [Told(full), Told(scant)])

    assert [event_of(event) for event in update.events] == [full, scant]


@every_size
def test_events_arrive_as_each_seat_may_see_them(seats: int) -> None:
    for table, step in played(seats, seed=seats):
        for viewer in viewers(table):
            update = seen_by(table, viewer, step.told)
            assert [event_of(event) for event in update.events] == [told.seen_by(viewer) for told in step.told]


@every_size
def test_views_arrive_whole(seats: int) -> None:
    for table, _ in islice(played(seats, seed=10 + seats), 0, None, 5):
        for viewer in viewers(table):
            view = WIRE.view(table, viewer)
            assert view.HasField("seat") == (viewer is not None)
            assert view.seat == (viewer or 0)
            assert view_of(view) == table.view(viewer).game


@every_size
def test_decisions_arrive_at_the_seats_that_are_asked(seats: int) -> None:
    for table, _ in played(seats, seed=20 + seats):
        assert list(WIRE.update(table).asked) == sorted(table.asked)
        for viewer in viewers(table):
            update = seen_by(table, viewer, [])
            question = None if viewer is None else table.question(viewer)
            assert update.HasField("decision") == (question is not None)
            if question is not None:
                assert update.decision.id == table.decision
                assert question_of(update.decision) == contents(question)


@every_size
def test_what_is_hidden_from_spectators_is_not_in_their_form(seats: int) -> None:
    for table, step in played(seats, seed=30 + seats):
        for told, update in zip(step.told, WIRE.update(table, step.told).events, strict=True):
            public = camelot_pb2.Event()
            assert update.detail.Unpack(public)
            shown = {field.name for field, _ in getattr(public, update.kind).ListFields()}
            for private in (told.private or {}).values():
                hidden = {
                    name for name in private.__struct_fields__ if getattr(private, name) != getattr(told.public, name)
                }
                assert not shown & hidden


def test_one_seats_secrets_are_not_left_in_the_form_of_the_next() -> None:
    for table, step in played(5, seed=1):
        expected = {seat: seen_by(table, seat, step.told).SerializeToString() for seat in seats_of(table)}
        backwards = {seat: seen_by(table, seat, step.told) for seat in reversed(seats_of(table))}
        assert {seat: update.SerializeToString() for seat, update in backwards.items()} == expected


def test_the_outcome_and_what_was_committed_are_told_at_the_end() -> None:
    for table, step in played(4, seed=1):
        update = seen_by(table, None, step.told)
        over = table.outcome is not None
        assert update.HasField("outcome") == update.HasField("reveal") == over

    assert table.outcome is not None
    assert update.outcome.ending == table.outcome.ending
    assert update.outcome.rule == table.outcome.rule
    assert tuple(update.outcome.winners) == tuple(sorted(table.outcome.winners))
    assert (update.version, list(update.asked)) == (table.version, [])
    assert update.reveal.secret == Seed.fixed(1).secret
    assert commitment(table) == table_pb2.Commitment(commitment=table.seed.commitment(), verifiable=False)


def test_the_game_tells_its_bounds_and_options() -> None:
    info = game_info(CAMELOT)

    assert (info.id, info.title, info.rules_version) == ("camelot", "Shadows over Camelot", str(CAMELOT.rules_version))
    assert (info.min_seats, info.max_seats) == (3, 7)
    assert [(option.id, tuple(option.values), option.default) for option in info.options] == [
        (option.id, option.values, option.default) for option in CAMELOT.options
    ]
