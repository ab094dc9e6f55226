"""State as facts: plain values of JSON that people can read and write, derived from the types of the state.

A struct is an object with its fields, an enum goes by its name in small letters, and a field whose numbers stand for
pieces is marked with what they are. Where a piece of a deck is wanted, `"?"` stands for one that is named nowhere else,
and in a list `"..."` for all the others of its deck.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum, IntFlag
from functools import partial
from types import NoneType
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import msgspec

from engine.core.chance import Chance

ANY = "?"
REST = "..."


class Fault(NamedTuple):
    """What is wrong, and where: a path as in `facts.knights[2].hand`."""

    path: str
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


class Pieces(msgspec.Struct, frozen=True):
    """Marks numbers that stand for pieces."""

    names: type[IntEnum] | None = None
    """By which they are written, a number without one as the empty text; None: they are written as they are."""
    deck: str = ""
    """The deck that the pieces are of, where others of it may take their place."""
    top_last: bool = False
    """A pile, which is written top first."""
    zero: bool = False
    """The name that has 0 is a piece as well."""


class Bits(msgspec.Struct, frozen=True):
    """Marks a number whose bits stand for pieces, or for seats: written as the list of them."""

    names: type[IntEnum] | None = None


class ByPiece(msgspec.Struct, frozen=True):
    """Marks a list of numbers by piece: written as an object, without those that have none."""

    names: type[IntEnum]
    none: int


class Deck(NamedTuple):
    """Pieces that a game has in a certain number, and those that a state holds, wherever they are."""

    names: type[IntEnum]
    all: bytes | bytearray
    held: bytes | bytearray

    def missing(self) -> Counter[int]:
        return Counter(self.all) - Counter(self.held)

    def surplus(self) -> Counter[int]:
        return Counter(self.held) - Counter(self.all)


class Reading:
    """What is found while facts are read: faults, pieces that are named, and places still to be filled."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.broken = False
        """Something is not of the right form, so that nothing can be said of the whole."""
        self._named: dict[tuple[type[IntEnum], int], list[str]] = {}
        self._blanks: list[_Blank] = []

    def fault(self, path: str, problem: str) -> None:
        self.faults.append(Fault(path, problem))

    def name(self, piece: IntEnum, path: str) -> None:
        self._named.setdefault((type(piece), piece.value), []).append(path)

    def named(self, piece: IntEnum) -> list[str]:
        """The paths at which a piece is named."""
        return self._named.get((type(piece), piece.value), [])

    def blank(
        self, deck: str, path: str, wanted: int | None, put: Callable[[bytes], None], stand_in: int | None = None
    ) -> None:
        """A place to be filled with so many pieces (None: all that are left), and what stands there meanwhile."""
        self._blanks.append(_Blank(deck, path, wanted, put, stand_in))

    def fill(self, decks: Mapping[str, Deck], chance: Chance) -> None:
        """Deals what is named nowhere: first wherever one is wanted, then the rest."""
        for name, deck in decks.items():
            blanks = [blank for blank in self._blanks if blank.deck == name]
            held = Counter(deck.held) - Counter(each.stand_in for each in blanks if each.stand_in is not None)
            left = bytearray((Counter(deck.all) - held).elements())
            chance.shuffle(left)
            for blank in sorted(blanks, key=lambda blank: blank.wanted is None):
                number = len(left) if blank.wanted is None else blank.wanted
                if number > len(left):
                    self.fault(blank.path, "no more of them are left")
                    continue
                blank.put(bytes(left[len(left) - number :]))
                del left[len(left) - number :]


class _Blank(NamedTuple):
    deck: str
    path: str
    wanted: int | None
    put: Callable[[bytes], None]
    stand_in: int | None


SHAPES: dict[type, str] = {dict: "an object", list: "a list"}


class Form(ABC):
    """How values of a type are written as facts and read."""

    single = True
    """A piece or a number, without which the whole still has its form."""
    empty: Any = None
    """Stands for what cannot be read, so that reading goes on."""

    @abstractmethod
    def write(self, value: Any) -> Any: ...

    @abstractmethod
    def read(self, fact: Any, path: str, reading: Reading) -> Any: ...

    def wrong(self, fact: Any, path: str, reading: Reading, expected: str) -> Any:
        reading.broken |= not self.single
        shown = json.dumps(fact) if isinstance(fact, (str, int, float, NoneType)) else SHAPES[type(fact)]
        reading.fault(path, f"{shown} is not {expected}")
        return self.empty


EXPECTED = {"int": "a whole number", "bool": "true or false", "str": "a text"}


class _Plain(Form):
    """A number, a truth or a text."""

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.empty = kind()

    def write(self, value: Any) -> Any:
        return value

    def read(self, fact: Any, path: str, reading: Reading) -> Any:
        # True is a number to Python, but not to people.
        if type(fact) is not self.kind:
            return self.wrong(fact, path, reading, EXPECTED[self.kind.__name__])
        if isinstance(fact, int) and abs(fact) >= 1 << 24:
            return self.wrong(fact, path, reading, "a number of this size")
        return fact


class _Name(Form):
    """A member of an enum, or a number that stands for one; such a number can also be 0 for none."""

    def __init__(self, names: type[IntEnum], make: Callable[[int], Any], *, none: bool, zero: bool) -> None:
        self._by_name = {piece.name.lower(): piece for piece in names if piece or zero}
        self._by_value = {piece.value: name for name, piece in self._by_name.items()}
        self._none = none
        self._make = make
        self.empty = make(0 if none else min(self._by_value))

    def write(self, value: Any) -> Any:
        return self._by_value[value] if value or not self._none else ""

    def read(self, fact: Any, path: str, reading: Reading) -> Any:
        if fact == "" and self._none:
            return self.empty
        piece = self._by_name.get(fact) if isinstance(fact, str) else None
        if piece is None:
            return self.wrong(fact, path, reading, f"one of {', '.join(self._by_name)}")
        reading.name(piece, path)
        return self._make(piece)


class _Number(Form):
    """A number from a range."""

    empty = 0

    def __init__(self, top: int) -> None:
        self._top = top

    def write(self, value: Any) -> Any:
        return value

    def read(self, fact: Any, path: str, reading: Reading) -> Any:
        if type(fact) is not int or not 0 <= fact < self._top:
            return self.wrong(fact, path, reading, f"a number from 0 to {self._top - 1}")
        return fact


_BYTE, _SEAT = _Number(256), _Number(16)


class _Zone(Form):
    """Pieces in a row: a hand, a pile."""

    single = False

    def __init__(self, pieces: Pieces) -> None:
        self._deck = pieces.deck
        self._step = -1 if pieces.top_last else 1
        self._form = _BYTE if pieces.names is None else _numbers(pieces)

    @property
    def empty(self) -> bytearray:
        return bytearray()

    def write(self, value: Any) -> Any:
        return [self._form.write(piece) for piece in value[:: self._step]]

    def read(self, fact: Any, path: str, reading: Reading) -> Any:
        if not isinstance(fact, list):
            return self.wrong(fact, path, reading, "a list")
        parts: list[bytes] = []
        zone = bytearray()

        def put(place: int, pieces: bytes) -> None:
            parts[place] = pieces
            zone[:] = b"".join(parts)[:: self._step]

        for place, each in enumerate(fact):
            parts.append(b"")
            if self._deck and each in (ANY, REST):
                wanted = None if each == REST else 1
                reading.blank(self._deck, f"{path}[{place}]", wanted, partial(put, place))
                continue
            known = len(reading.faults)
            piece = self._form.read(each, f"{path}[{place}]", reading)
            if len(reading.faults) == known:
                parts[place] = bytes([piece])
        zone[:] = b"".join(parts)[:: self._step]
        return zone


class _Bits(Form):
    empty = 0

    def __init__(self, names: type[IntEnum] | None) -> None:
        self._form = _SEAT if names is None else _Name(names, int, none=False, zero=False)
        self._flags = names is not None and issubclass(names, IntFlag)

    def write(self, value: Any) -> Any:
        bits = [bit for bit in range(value.bit_length()) if value >> bit & 1]
        return [self._form.write(1 << bit if self._flags else bit) for bit in bits]

    def read(self, fact: Any, path: str, reading: Reading) -> Any:
        if not isinstance(fact, list):
            return self.wrong(fact, path, reading, "a list")
        value = 0
        for place, each in enumerate(fact):
            known = len(reading.faults)
            piece = self._form.read(each, f"{path}[{place}]", reading)
            if len(reading.faults) > known:
                continue
            bit = piece if self._flags else 1 << piece
            if value & bit:
                reading.fault(f"{path}[{place}]", f"{each!r} is listed twice")
            value |= bit
        return value


class _ByPiece(Form):
    def __init__(self, mark: ByPiece) -> None:
        self._none = mark.none
        self._names = {piece.name.lower(): piece.value for piece in mark.names}
        self._size = max(mark.names) + 1

    @property
    def empty(self) -> list[int]:
        return [self._none] * self._size

    def write(self, value: Any) -> Any:
        return {name: value[piece] for name, piece in self._names.items() if value[piece] != self._none}

    def read(self, fact: Any, path: str, reading: Reading) -> Any:
        if not isinstance(fact, dict):
            return self.wrong(fact, path, reading, "an object")
        values = self.empty
        for name, number in fact.items():
            if name not in self._names:
                reading.fault(f"{path}.{name}", f"is none of {', '.join(self._names)}")
            else:
                values[self._names[name]] = _SEAT.read(number, f"{path}.{name}", reading)
        return values


class _Sequence(Form):
    single = False

    def __init__(self, item: Form, make: Callable[[Iterable[Any]], Any]) -> None:
        self._item = item
        self._make = make

    @property
    def empty(self) -> Any:
        return self._make(())

    def write(self, value: Any) -> Any:
        return [self._item.write(each) for each in value]

    def read(self, fact: Any, path: str, reading: Reading) -> Any:
        if not isinstance(fact, list):
            return self.wrong(fact, path, reading, "a list")
        return self._make([self._item.read(each, f"{path}[{place}]", reading) for place, each in enumerate(fact)])


class _OrNone(Form):
    def __init__(self, form: Form) -> None:
        self._form = form

    def write(self, value: Any) -> Any:
        return None if value is None else self._form.write(value)

    def read(self, fact: Any, path: str, reading: Reading) -> Any:
        return None if fact is None else self._form.read(fact, path, reading)


class _Field(NamedTuple):
    name: str
    form: Form
    deck: str
    info: msgspec.structs.FieldInfo

    @property
    def default(self) -> Any:
        if self.info.default_factory is not msgspec.NODEFAULT:
            return self.info.default_factory()
        return self.info.default


class _Struct(Form):
    single = False

    def __init__(self, kind: type[msgspec.Struct]) -> None:
        self._kind = kind
        self._fields = [
            _Field(info.name, _form_of(info.type), _deck_of(info.type), info) for info in msgspec.structs.fields(kind)
        ]
        self._names = {field.name for field in self._fields}

    @property
    def empty(self) -> Any:
        return self._kind(*[field.form.empty for field in self._fields])

    def write(self, value: Any) -> Any:
        return {field.name: field.form.write(getattr(value, field.name)) for field in self._fields}

    def read(self, fact: Any, path: str, reading: Reading) -> Any:
        if not isinstance(fact, dict):
            return self.wrong(fact, path, reading, "an object")
        for name in fact:
            if name not in self._names:
                reading.fault(f"{path}.{name}", "there is no such fact")
        values: list[Any] = []
        wanted: list[_Field] = []
        for field in self._fields:
            given = fact.get(field.name, msgspec.NODEFAULT)
            if given is msgspec.NODEFAULT:
                values.append(field.default)
                if values[-1] is msgspec.NODEFAULT:
                    reading.fault(f"{path}.{field.name}", "is missing")
                    reading.broken = True
                    values[-1] = field.form.empty
            elif field.deck and given == ANY:
                values.append(field.form.empty)
                wanted.append(field)
            else:
                known = len(reading.faults)
                values.append(field.form.read(given, f"{path}.{field.name}", reading))
                if field.deck and len(reading.faults) > known:
                    wanted.append(field)
        made = self._kind(*values)
        for field in wanted:
            put = partial(_put, made, field.name, type(field.form.empty))
            reading.blank(field.deck, f"{path}.{field.name}", 1, put, int(field.form.empty))
        return made


def _put(owner: msgspec.Struct, name: str, kind: type, pieces: bytes) -> None:
    setattr(owner, name, kind(pieces[0]))


def _numbers(pieces: Pieces) -> Form:
    assert pieces.names is not None
    return _Name(pieces.names, int, none=not (pieces.deck or pieces.zero), zero=pieces.zero)


def _deck_of(kind: Any) -> str:
    """The deck of a single piece."""
    if get_origin(kind) is not Annotated or get_args(kind)[0] is bytearray:
        return ""
    return next((mark.deck for mark in get_args(kind)[1:] if isinstance(mark, Pieces)), "")


def _form_of(kind: Any) -> Form:
    """The form of a type; what it is marked with decides first."""
    if get_origin(kind) is Annotated:
        kind, *marks = get_args(kind)
        for mark in marks:
            if isinstance(mark, Bits):
                return _Bits(mark.names)
            if isinstance(mark, ByPiece):
                return _ByPiece(mark)
            if isinstance(mark, Pieces) and kind is bytearray:
                return _Zone(mark)
            if isinstance(mark, Pieces) and kind is int:
                return _numbers(mark)
            if isinstance(mark, Pieces) and issubclass(kind, IntEnum):
                return _Name(kind, kind, none=False, zero=mark.zero)
    if get_args(kind)[1:] == (NoneType,):
        return _OrNone(_form_of(get_args(kind)[0]))
    if get_origin(kind) is list:
        return _Sequence(_form_of(get_args(kind)[0]), list)
    if get_origin(kind) is tuple and get_args(kind)[1:] == (Ellipsis,):
        return _Sequence(_form_of(get_args(kind)[0]), tuple)
    if kind is bytearray:
        return _Zone(Pieces())
    if isinstance(kind, type):
        if issubclass(kind, msgspec.Struct):
            return form_of(kind)
        if issubclass(kind, IntEnum):
            return _Name(kind, kind, none=False, zero=True)
        if kind in (int, bool, str):
            return _Plain(kind)
    raise TypeError(f"there are no facts of {kind}")


def form_of(kind: type[msgspec.Struct]) -> Form:
    """The form of a type of state; raises `TypeError` if something in it has none."""
    return _Struct(kind)


def over(base: Any, given: Any) -> Any:
    """Facts over others: objects are merged, and so are lists of objects, place by place; all else is replaced."""
    if isinstance(base, dict) and isinstance(given, dict):
        return base | {name: over(base[name], each) if name in base else each for name, each in given.items()}
    if isinstance(base, list) and isinstance(given, list) and base and all(isinstance(each, dict) for each in base):
        return [over(one, other) for one, other in zip(base, given, strict=False)] + given[len(base) :]
    return given


def without(facts: Any, base: Any) -> Any:
    """The facts that differ from those they are to be laid over: `over(base, without(facts, base)) == facts`."""
    if isinstance(facts, dict) and isinstance(base, dict):
        return {
            name: without(each, base.get(name))
            for name, each in facts.items()
            if name not in base or each != base[name]
        }
    if isinstance(facts, list) and isinstance(base, list) and len(facts) == len(base):
        if base and all(isinstance(each, dict) for each in [*facts, *base]):
            return [without(one, other) for one, other in zip(facts, base, strict=True)]
    return facts
