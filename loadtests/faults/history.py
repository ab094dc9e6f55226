"""What one client asked and saw, in the order in which it learned of it: one file for each client.

Times are seconds of one clock for all clients. Digests are of whole messages, in hexadecimal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import IO

import msgspec
from google.protobuf.message import Message

OK = "OK"
UNKNOWN = "UNKNOWN"
"""No answer: it was carried out, or will be, or not."""


class Seated(msgspec.Struct, frozen=True, tag="seated"):
    """The client holds a seat."""

    game: str
    seat: int


class Try(msgspec.Struct, frozen=True, tag="try"):
    """One attempt at a call, and its end."""

    call: str
    """Method of the contract."""
    request: str
    """Its request id; empty for calls that have none."""
    asked: tuple[str, ...]
    """The content: decision and picks of a choice."""
    began: float
    ended: float
    answer: str
    """OK, UNKNOWN, or the reason of a refusal."""
    version: int = -1
    digest: str = ""
    """Of the answer's update; of a view and its update for GetView."""
    told: Mapping[str, str] = {}
    """Facts that came with a refusal."""


class Opened(msgspec.Struct, frozen=True, tag="opened"):
    """A feed is watched, after a cursor or from its present."""

    stream: int
    at: float
    after: str | None


class Seen(msgspec.Struct, frozen=True, tag="seen"):
    """A message of a feed."""

    stream: int
    at: float
    kind: str
    """`snapshot`, `update`, `heartbeat`, or another kind of entry, which tells nothing of the log."""
    cursor: str
    version: int = -1
    digest: str = ""
    last: bool = False
    """It has the outcome."""


class Broke(msgspec.Struct, frozen=True, tag="broke"):
    """A feed ended."""

    stream: int
    at: float
    why: str


Line = Seated | Try | Opened | Seen | Broke

_encode = msgspec.json.encode
_decode = msgspec.json.Decoder(Line).decode


class History:
    """The file of one client, as it grows."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("wb")

    def add(self, line: Line) -> None:
        self._file.write(_encode(line) + b"\n")

    def close(self) -> None:
        self._file.close()


def read_history(path: Path) -> list[Line]:
    with path.open("rb") as file:
        return [_decode(line) for line in file]


def digest_of(*messages: Message) -> str:
    return digest_of_bytes(message.SerializeToString(deterministic=True) for message in messages)


def digest_of_bytes(parts: Iterable[bytes]) -> str:
    digest = blake2b(digest_size=12)
    for part in parts:
        digest.update(len(part).to_bytes(4, "big") + part)
    return digest.hexdigest()
