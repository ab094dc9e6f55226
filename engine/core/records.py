"""A finished game as one file that anybody can check: its set-up, its secret, and every input with its digest.

The file is JSON in one exact form, an input in each line, so that not a byte of it can be changed unnoticed. Digests
and secrets are hexadecimal digits. `seal` is the BLAKE2b-128 of the same text with an empty seal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

import msgspec

from engine.core.chance import CONTRIBUTION_BYTES_MAX, SECRET_BYTES, Seed
from engine.core.errors import Reason, Refusal
from engine.core.games import Outcome, Registry
from engine.core.table import Input, InputKind, Table

FORM = 1
"""Version of the file's form."""
KINDS: dict[str, InputKind] = {kind.name.lower(): kind for kind in InputKind}
_SEAL_BYTES = 16


_DEFAULTS = {"kind": "answer", "decision": 0, "picks": (), "orders": {}}


class RecordedInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An input, and the digest of the history up to and with it."""

    seat: int
    kind: str = "answer"
    decision: int = 0
    """Number of the ask that it answers."""
    picks: tuple[int, ...] = ()
    """Places in the list of options, from 0."""
    orders: dict[str, str] = {}
    digest: str

    @classmethod
    def of(cls, given: Input, digest: bytes) -> RecordedInput:
        return cls(
            seat=given.seat,
            kind=given.kind.name.lower(),
            decision=given.ask,
            picks=given.picks,
            orders=dict(given.orders),
            digest=digest.hex(),
        )

    def line(self) -> str:
        """Without what is at its default."""
        told: dict[str, Any] = {
            "seat": self.seat,
            "kind": self.kind,
            "decision": self.decision,
            "picks": self.picks,
            "orders": self.orders,
        }
        told = {name: value for name, value in told.items() if value != _DEFAULTS.get(name)}
        return json.dumps(told | {"digest": self.digest})

    def given(self) -> Input:
        """Raises `KeyError` for a kind that there is not."""
        return Input(KINDS[self.kind], self.seat, self.decision, self.picks, tuple(sorted(self.orders.items())))


class RecordedOutcome(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    ending: str
    rule: str
    winners: tuple[int, ...]


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    record: Literal[1] = 1
    """Version of the form."""
    game_id: str
    game: str
    rules_version: int
    seats: int
    options: dict[str, str]
    commitment: str
    """Published when the game began."""
    verifiable: bool
    """False: the secret was chosen by somebody, so that the commitment proves nothing."""
    secret: str
    contributions: tuple[str, ...] = ()
    outcome: RecordedOutcome | None
    closed: str = ""
    """Why the game was closed before its end."""
    inputs: tuple[RecordedInput, ...]
    seal: str = ""

    def sealed(self) -> Record:
        digest = blake2b(to_text(msgspec.structs.replace(self, seal="")).encode(), digest_size=_SEAL_BYTES)
        return msgspec.structs.replace(self, seal=digest.hexdigest())


class Altered(Exception):
    """A record that is not of the game that was played.

    `input` is the first of its inputs that differs, counted from 1; 0 where none does.
    """

    def __init__(self, why: str, input: int = 0) -> None:
        super().__init__(why + (f"; input {input} is the first that differs" if input else ""))
        self.input = input


class Verified(NamedTuple):
    record: Record
    table: Table


def record_of(
    game_id: str, table: Table, seats: int, inputs: Sequence[tuple[Input, bytes]], closed: str = ""
) -> Record:
    """The record of a game as it stands at a table, with all inputs it had, each with the digest after it."""
    seed = table.seed
    return Record(
        game_id=game_id,
        game=table.game.id,
        rules_version=table.game.rules_version,
        seats=seats,
        options=dict(sorted(texts(msgspec.to_builtins(table.play.options)).items())),
        commitment=seed.commitment().hex(),
        verifiable=seed.verifiable,
        secret=seed.secret.hex(),
        contributions=tuple(each.hex() for each in seed.contributions),
        outcome=recorded(table.outcome),
        closed=closed,
        inputs=tuple(RecordedInput.of(given, digest) for given, digest in inputs),
    ).sealed()


def texts(options: Mapping[str, object]) -> dict[str, str]:
    """Values of game options, as they are given."""
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in options.items()}


def to_text(record: Record) -> str:
    """The file."""
    parts = []
    for name, value in msgspec.to_builtins(record).items():
        if name == "inputs":
            lines = ",\n".join(each.line() for each in record.inputs)
            parts.append(f"{_INPUTS}\n{lines}\n]")
        else:
            parts.append(f"{json.dumps(name)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def verify(games: Registry, data: bytes, commitment: bytes | None = None) -> Verified:
    """Plays the game of a file again.

    Args:
        commitment: as it was published, from elsewhere than the file.

    Raises:
        Altered: anything in the file is not as it was written.
        Refusal: the game is not played here, or not under the rules of the record.
    """
    record = _read(data)
    game = games.get(record.game)
    if record.rules_version != game.rules_version:
        raise Refusal(
            Reason.RULES_VERSION,
            f"the record is of version {record.rules_version} of the rules; here is {game.rules_version}",
        )
    seed = Seed(bytes.fromhex(record.secret), tuple(map(bytes.fromhex, record.contributions)), record.verifiable)
    try:
        table, _ = Table.new(game, record.seats, record.options, seed)
    except Refusal as refusal:
        raise Altered(f"no game begins like this: {refusal.message}") from refusal
    differs, why = _first_that_differs(table, record)
    if seed.commitment().hex() != record.commitment:
        raise Altered("the seed is not the one that was committed to", differs)
    if commitment not in (None, seed.commitment()):
        raise Altered("the seed is not the one of this commitment", differs)
    if differs:
        raise Altered(why, differs)
    if recorded(table.outcome) != record.outcome:
        raise Altered("the game does not end like this")
    if record.sealed() != record:
        raise Altered("something else than the inputs and the seed was changed: the seal is broken")
    return Verified(record, table)


def recorded(outcome: Outcome | None) -> RecordedOutcome | None:
    """An outcome as records have it."""
    return None if outcome is None else RecordedOutcome(outcome.ending, outcome.rule, outcome.winners)


def _first_that_differs(table: Table, record: Record) -> tuple[int, str]:
    for number, each in enumerate(record.inputs, 1):
        try:
            table.play_again(each.given())
        except Refusal:
            return number, "the rules do not take an input"
        if table.history.hex() != each.digest:
            return number, "an input has not the digest of its history"
    return 0, ""


# Reading

_INPUTS = '"inputs": ['
_END = "],"


def _read(data: bytes) -> Record:
    """The record, if it is written exactly as records are."""
    lines = data.split(b"\n")
    _check_inputs(lines)
    try:
        record = msgspec.json.decode(data, type=Record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise Altered(f"this is no record: {fault}") from fault
    if to_text(record).encode() != data:
        raise Altered("this is not as records are written")
    _check_bytes("secret", record.secret, SECRET_BYTES, SECRET_BYTES)
    for each in record.contributions:
        _check_bytes("contributions", each, 0, CONTRIBUTION_BYTES_MAX)
    return record


def _check_inputs(lines: Sequence[bytes]) -> None:
    """Each line of an input is written as it is to be, so that one that is not can be named."""
    if _INPUTS.encode() not in lines or _END.encode() not in lines:
        return
    first, last = lines.index(_INPUTS.encode()) + 1, lines.index(_END.encode())
    for number, line in enumerate(lines[first:last], 1):
        end = b"" if first + number == last else b","
        try:
            given = msgspec.json.decode(line.removesuffix(b","), type=RecordedInput)
            given.given()
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError) as fault:
            raise Altered("an input cannot be read", number) from fault
        if given.line().encode() + end != line:
            raise Altered("an input is not as records are written", number)


def _check_bytes(name: str, digits: str, least: int, most: int) -> None:
    if not (re.fullmatch("(?:[0-9a-f]{2})*", digits) and least <= len(digits) // 2 <= most):
        raise Altered(f"{name}: these are not bytes in hexadecimal digits")
