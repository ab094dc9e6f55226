"""Values of the engine as messages of the contracts. Only this way: what comes in are ids, and a table's own bytes.

A game declares which of its types is which message (`Wire`). How each field travels follows from the types and is
planned once, when the game's wire module is imported; a field that the other side lacks is refused then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from functools import lru_cache
from types import NoneType
from typing import Any, cast, get_args, get_origin

import msgspec
from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from engine.core.decisions import Option, Question
from engine.core.events import Event, Told, kind_of
from engine.core.games import AnyGame, Outcome
from engine.core.table import Table
from engine.core.talk import Declaration
from roundtable.table.v1 import table_pb2

Convert = Callable[[Any], Any]
Build = Callable[..., Message]

_UNSIGNED = (FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_UINT64)
_SCALARS: dict[type, tuple[int, ...]] = {
    bool: (FieldDescriptor.TYPE_BOOL,),
    int: (*_UNSIGNED, FieldDescriptor.TYPE_SINT32),
    str: (FieldDescriptor.TYPE_STRING,),
}

# Seats, cards and small numbers make up most events, and most questions are short: a few thousand of each recur in all
# games and are converted once.
_EVENTS_KEPT = 8192
_DECISIONS_KEPT = 2048


class Mismatch(TypeError):
    """A type of the engine and its message differ."""


def converter(
    struct: type[msgspec.Struct], message: type[Message], base: type[msgspec.Struct] = msgspec.Struct
) -> Convert:
    """How values of a struct type become messages, field by field of the same name.

    Enums keep their numbers and tuples become lists. A tuple inside another becomes a message of its own: with one
    list, or with one field for each item in the order of the field numbers. None is absent, and so is a negative
    number where the message's field is unsigned and optional.

    Args:
        base: a base of the struct type whose fields travel elsewhere.

    Raises:
        Mismatch: a field has no counterpart, or one that cannot hold all its values.
    """
    fields = {field.name: field for field in msgspec.structs.fields(struct) if field.name not in base.__struct_fields__}
    counterparts = _fields(message.DESCRIPTOR)
    if lonely := fields.keys() ^ counterparts.keys():
        raise Mismatch(f"not in both {struct.__qualname__} and {message.DESCRIPTOR.full_name}: {sorted(lonely)}")
    return _building(
        message,
        [(name, _of_field(field.type, counterparts[name], field.default)) for name, field in fields.items()],
    )


def _building(message: Build, parts: Sequence[tuple[str, Convert | None]]) -> Convert:
    def convert(value: Any) -> Message:
        return message(
            **{name: getattr(value, name) if turn is None else turn(getattr(value, name)) for name, turn in parts}
        )

    return convert


def _of_field(kind: Any, field: FieldDescriptor, default: object = None) -> Convert | None:
    """How the values of a field are converted; None if they go as they are."""
    kinds = [each for each in get_args(kind) if each is not NoneType]
    optional = NoneType in get_args(kind)
    if optional:
        (kind,) = kinds
    if field.is_repeated:
        if optional or get_origin(kind) is not tuple or kinds[1:] != [Ellipsis]:
            raise _differ(kind, field)
        turn = _of_item(kinds[0], field)
        return None if turn is None else _each(turn)
    turn = _of_item(kind, field)
    if optional and not field.has_presence and not (issubclass(kind, IntEnum) and 0 not in set(kind)):
        raise _differ(f"{kind} or None", field)
    if kind is int and field.type in _UNSIGNED:
        if field.has_presence:
            return _unless_negative
        if isinstance(default, int) and default < 0:
            raise _differ("int below 0", field)
    return _unless_none(turn) if optional and turn is not None else turn


def _of_item(kind: Any, field: FieldDescriptor) -> Convert | None:
    if get_origin(kind) is tuple and field.message_type:
        return _of_tuple(get_args(kind), field)
    if isinstance(kind, type):
        if issubclass(kind, msgspec.Struct) and field.message_type:
            return converter(kind, _message_of(field))
        if issubclass(kind, IntEnum) and field.enum_type:
            _check_enum(kind, field.enum_type)
            return None
        if field.type in _SCALARS.get(kind, ()):
            return None
    raise _differ(kind, field)


def _of_tuple(items: tuple[Any, ...], field: FieldDescriptor) -> Convert:
    message: Build = _message_of(field)
    inner = sorted(_fields(field.message_type).values(), key=lambda each: each.number)
    if items[1:] == (Ellipsis,):
        if len(inner) != 1 or not inner[0].is_repeated:
            raise _differ(f"tuple of {items[0]}", field)
        name, turn = inner[0].name, _of_item(items[0], inner[0])
        each = None if turn is None else _each(turn)
        return lambda value: message(**{name: value if each is None else each(value)})
    if len(inner) != len(items):
        raise _differ(f"tuple of {items}", field)
    parts = [(each.name, _of_field(kind, each)) for kind, each in zip(items, inner, strict=True)]
    return lambda value: message(
        **{name: item if turn is None else turn(item) for (name, turn), item in zip(parts, value, strict=True)}
    )


def _each(turn: Convert) -> Convert:
    return lambda values: [turn(value) for value in values]


def _unless_none(turn: Convert) -> Convert:
    return lambda value: None if value is None else turn(value)


def _unless_negative(number: int | None) -> int | None:
    return None if number is None or number < 0 else number


def _check_enum(enum: type[IntEnum], counterpart: EnumDescriptor) -> None:
    prefix = counterpart.values_by_number[0].name.removesuffix("UNSPECIFIED")
    ours = {(prefix + member.name, member.value) for member in enum if member}
    theirs = {(value.name, value.number) for value in counterpart.values if value.number}
    if ours != theirs:
        raise Mismatch(f"not in both {enum.__qualname__} and {counterpart.full_name}: {sorted(ours ^ theirs)}")


# The types of protobuf know each descriptor twice, as written in Python and in C; at run time there is one of them.
def _fields(message: Any) -> dict[str, FieldDescriptor]:
    return {field.name: field for field in message.fields}


def _message_of(field: FieldDescriptor) -> type[Message]:
    return GetMessageClass(cast(Descriptor, field.message_type))


def _differ(kind: object, field: FieldDescriptor) -> Mismatch:
    return Mismatch(f"{field.full_name} cannot hold every {kind}")


def _packing(message: type[Message]) -> Callable[[Message], Packed]:
    url = f"type.googleapis.com/{message.DESCRIPTOR.full_name}"
    return lambda packed: Packed(type_url=url, value=packed.SerializeToString())


class Wire:
    """How the tables of one game travel."""

    def __init__(
        self,
        *,
        view: tuple[type[msgspec.Struct], type[Message]],
        events: tuple[Iterable[type[Event]], type[Message]],
        options: tuple[type[Option], type[Message]],
        declarations: tuple[type[Declaration], type[Message]] | None = None,
    ) -> None:
        """
        Args:
            view: the type of the game's views, and its message.
            events: the types of its events, and the message with one field for each kind of event.
            options: the type of its options, and the message that lists what each option of a decision refers to.
            declarations: the type of its declarations, and the message of what one refers to; None: no table talk.

        Raises:
            Mismatch: a type and its message differ.
        """
        view_type, view_message = view
        self._view = converter(view_type, view_message)
        self._pack_view = _packing(view_message)

        event_types, event_message = events
        kinds = {kind_of(event): event for event in event_types}
        fields = _fields(event_message.DESCRIPTOR)
        if lonely := kinds.keys() ^ fields.keys():
            raise Mismatch(f"not both a kind of event and in {event_message.DESCRIPTOR.full_name}: {sorted(lonely)}")
        self._events = {
            event: (kind, converter(event, _message_of(fields[kind]), Event)) for kind, event in kinds.items()
        }
        self._event_detail: Build = event_message
        self._pack_event = _packing(event_message)

        option_type, references_message = options
        (references,) = _fields(references_message.DESCRIPTOR).values()
        self._references = references.name
        self._reference = converter(option_type, _message_of(references), Option)
        self._references_detail: Build = references_message
        self._pack_references = _packing(references_message)

        if declarations is not None:
            declaration_type, declaration_message = declarations
            self._declaration_detail = converter(declaration_type, declaration_message, Declaration)
            self._pack_declaration = _packing(declaration_message)

        # What these keep is copied into other messages and never changed.
        self._event = lru_cache(_EVENTS_KEPT)(self._build_event)
        self._decision = lru_cache(_DECISIONS_KEPT)(self._build_decision)

    def _build_event(self, event: Event) -> table_pb2.Event:
        kind, convert = self._events[type(event)]
        detail = self._event_detail(**{kind: convert(event)})
        return table_pb2.Event(kind=kind, rule=event.rule, detail=self._pack_event(detail))

    def _build_decision(
        self, options: tuple[Option, ...], key: str, least: int, most: int, ordered: bool, default: tuple[int, ...]
    ) -> table_pb2.Decision:
        """A decision without its id and its seat. Options are equal only to themselves, so that they make a key."""
        references = self._references_detail(**{self._references: [self._reference(option) for option in options]})
        return table_pb2.Decision(
            key=key,
            options=[
                table_pb2.Option(id=option.id, rule=option.rule, title=option.title, alone=option.alone)
                for option in options
            ],
            min=least,
            max=most,
            ordered=ordered,
            default=[options[place].id for place in default],
            detail=self._pack_references(references),
        )

    def declaration(self, declaration: Declaration) -> table_pb2.Declaration:
        return table_pb2.Declaration(
            id=declaration.id,
            rule=declaration.rule,
            title=declaration.title,
            detail=self._pack_declaration(self._declaration_detail(declaration)),
        )

    def view(self, table: Table, seat: int | None) -> table_pb2.View:
        """Everything a seat (None: a spectator) may know."""
        return table_pb2.View(seat=seat, detail=self._pack_view(self._view(table.view(seat).game)))

    def update(self, table: Table, told: Sequence[Told] = ()) -> table_pb2.Update:
        """A step of a table in the form a spectator may see."""
        update = table_pb2.Update(
            version=table.version,
            events=[self._event(each.public) for each in told],
            asked=sorted(table.asked),
        )
        if table.outcome is not None:
            update.outcome.CopyFrom(_outcome(table.outcome))
            update.reveal.CopyFrom(reveal(table))
        return update

    def add_private(self, update: table_pb2.Update, table: Table, seat: int, told: Sequence[Told] = ()) -> None:
        """Turns the spectators' form of a step into a seat's: with its forms of the events and its open decision."""
        for place, each in enumerate(told):
            if each.private is not None and (private := each.private.get(seat)) is not None:
                update.events[place].CopyFrom(self._event(private))
        question = table.question(seat)
        if question is not None:
            update.decision.CopyFrom(self._open(question))
            update.decision.id = table.decision
            update.decision.seat = seat

    def _open(self, question: Question[Any]) -> table_pb2.Decision:
        return self._decision(
            question.options, question.key, question.least, question.most, question.ordered, question.default
        )


def _outcome(outcome: Outcome) -> table_pb2.Outcome:
    return table_pb2.Outcome(ending=outcome.ending, rule=outcome.rule, winners=sorted(outcome.winners))


def reveal(table: Table) -> table_pb2.Reveal:
    """What opens the promise; secret until the game is over."""
    seed = table.seed
    return table_pb2.Reveal(secret=seed.secret, contributions=seed.contributions)


def commitment(table: Table) -> table_pb2.Commitment:
    """The promise about a table's chance, published before it is used."""
    return table_pb2.Commitment(commitment=table.seed.commitment(), verifiable=table.seed.verifiable)


def game_info(game: AnyGame) -> table_pb2.GameInfo:
    """What a game offers to whoever wants to create one."""
    return table_pb2.GameInfo(
        id=game.id,
        title=game.title,
        rules_version=str(game.rules_version),
        min_seats=game.seats[0],
        max_seats=game.seats[-1],
        options=[
            table_pb2.GameOption(id=option.id, title=option.title, values=option.values, default=option.default)
            for option in game.options
        ],
    )
