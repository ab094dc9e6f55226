"""Conversion to messages is planned from the types, and what does not fit is refused when it is planned."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from pathlib import Path
from typing import Any

import msgspec
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import protoc

from engine.core.decisions import Option
from engine.core.events import Event
from engine.core.wire import Mismatch, Wire, converter

MESSAGES = """
enum Hue { HUE_UNSPECIFIED = 0; HUE_RED = 1; HUE_BLUE = 2; }
message Spot { uint32 x = 1; Hue hue = 2; }
message Row { repeated Hue hues = 1; }
message Rows { repeated Row rows = 1; }
message Count { uint32 number = 1; }
message Change { sint32 number = 1; }
message MaybeCount { optional uint32 number = 1; }
message Flag { bool flag = 1; }
message MaybeFlag { optional bool flag = 1; }
message Text { string text = 1; }
message OneHue { Hue hue = 1; }
message Spots { repeated Spot spots = 1; }
message OneSpot { Spot spot = 1; }
message Nothing {}
message Events { oneof event { Count began = 1; Nothing ended = 2; } }
message References { repeated OneHue references = 1; }
"""


class Hue(IntEnum):
    RED = 1
    BLUE = 2


class Shade(IntEnum):
    NONE = 0
    RED = 1
    BLUE = 2


class Green(IntEnum):
    RED = 1
    GREEN = 2


Classes = Callable[[str], type[Message]]


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Classes:
    """Message classes of `MESSAGES` by name."""
    folder: Path = tmp_path_factory.mktemp("protos")
    (folder / "toy.proto").write_text(f'syntax = "proto3"; package toy; {MESSAGES}')
    assert protoc.main(["protoc", f"-I{folder}", f"--descriptor_set_out={folder}/set", "toy.proto"]) == 0
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString((folder / "set").read_bytes()).file:
        pool.Add(file)
    return lambda name: GetMessageClass(pool.FindMessageTypeByName(f"toy.{name}"))


def struct(**fields: Any) -> type[msgspec.Struct]:
    """A type with these fields: a type each, or a type and a default."""
    return msgspec.defstruct(
        "Sample", [(name, *kind) if isinstance(kind, list) else (name, kind) for name, kind in fields.items()]
    )


@pytest.mark.parametrize(
    ("message", "field", "kind", "value", "travels"),
    [
        ("Count", "number", int, 3, 3),
        ("Count", "number", int, 0, None),
        ("Change", "number", int, -3, -3),
        ("MaybeCount", "number", int, 0, 0),
        ("MaybeCount", "number", int, -1, None),
        ("MaybeCount", "number", int | None, 0, 0),
        ("MaybeCount", "number", int | None, None, None),
        ("MaybeFlag", "flag", bool | None, False, False),
        ("MaybeFlag", "flag", bool | None, None, None),
        ("Text", "text", str, "merlin", "merlin"),
        ("OneHue", "hue", Hue, Hue.BLUE, "HUE_BLUE"),
        ("OneHue", "hue", Shade, Shade.NONE, None),
        ("OneHue", "hue", Hue | None, None, None),
        ("OneSpot", "spot", struct(x=int, hue=Hue) | None, None, None),
        ("OneSpot", "spot", struct(x=int, hue=Hue), struct(x=int, hue=Hue)(2, Hue.RED), {"x": 2, "hue": "HUE_RED"}),
        ("OneSpot", "spot", tuple[int, Hue], (2, Hue.RED), {"x": 2, "hue": "HUE_RED"}),
        ("Spots", "spots", tuple[tuple[int, Hue], ...], ((2, Hue.RED),), [{"x": 2, "hue": "HUE_RED"}]),
        ("Row", "hues", tuple[Hue, ...], (Hue.RED, Hue.BLUE), ["HUE_RED", "HUE_BLUE"]),
        ("Rows", "rows", tuple[tuple[Hue, ...], ...], ((), (Hue.BLUE,)), [{}, {"hues": ["HUE_BLUE"]}]),
    ],
)
def test_a_field_travels(classes: Classes, message: str, field: str, kind: Any, value: object, travels: object) -> None:
    sample = struct(**{field: kind})

    converted = converter(sample, classes(message))(sample(value))

    assert MessageToDict(converted, preserving_proto_field_name=True).get(field) == travels


@pytest.mark.parametrize(
    ("message", "fields", "complaint"),
    [
        ("Count", {}, "number"),
        ("Count", {"number": int, "color": str}, "color"),
        ("Count", {"number": str}, "cannot hold"),
        ("Count", {"number": bool}, "cannot hold"),
        ("Count", {"number": int | None}, "cannot hold"),
        ("Count", {"number": [int, -1]}, "below 0"),
        ("Count", {"number": Hue}, "cannot hold"),
        ("Count", {"number": tuple[int, ...]}, "cannot hold"),
        ("Flag", {"flag": bool | None}, "cannot hold"),
        ("OneHue", {"hue": int}, "cannot hold"),
        ("OneHue", {"hue": Green}, "HUE_GREEN"),
        ("OneHue", {"hue": Shade | None}, "cannot hold"),
        ("Row", {"hues": Hue}, "cannot hold"),
        ("Row", {"hues": list[Hue]}, "cannot hold"),
        ("Row", {"hues": tuple[Hue, ...] | None}, "cannot hold"),
        ("Row", {"hues": tuple[Hue, Hue]}, "cannot hold"),
        ("OneSpot", {"spot": struct(x=int)}, "hue"),
        ("OneSpot", {"spot": tuple[int, Hue, int]}, "cannot hold"),
        ("OneSpot", {"spot": tuple[Hue, int]}, "cannot hold"),
        ("OneSpot", {"spot": tuple[Hue, ...]}, "cannot hold"),
    ],
)
def test_a_field_that_does_not_fit_is_refused(
    classes: Classes, message: str, fields: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(Mismatch, match=complaint):
        converter(struct(**fields), classes(message))


def test_fields_of_the_base_travel_elsewhere(classes: Classes) -> None:
    class Began(Event, frozen=True):
        number: int

    converted = converter(Began, classes("Count"), Event)(Began(3, rule="T1"))

    assert MessageToDict(converted) == {"number": 3}


class Began(Event, frozen=True):
    number: int


class Ended(Event, frozen=True):
    pass


class Coloured(Option, frozen=True, eq=False, kw_only=True):
    hue: Hue


class Seen(msgspec.Struct, frozen=True):
    number: int


def toy_wire(classes: Classes, *events: type[Event]) -> Wire:
    return Wire(
        view=(Seen, classes("Count")),
        events=(events, classes("Events")),
        options=(Coloured, classes("References")),
    )


def test_every_kind_of_event_has_its_field_and_every_field_its_kind(classes: Classes) -> None:
    toy_wire(classes, Began, Ended)
    with pytest.raises(Mismatch, match="ended"):
        toy_wire(classes, Began)

    class Paused(Event, frozen=True):
        pass

    with pytest.raises(Mismatch, match="paused"):
        toy_wire(classes, Began, Ended, Paused)
