"""A game looked at from outside its services: what the store has of it, what is wrong with it, and what mends it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from roundtable.engine.v1 import engine_pb2
from roundtable.table.v1 import table_pb2
from services.runtime.errors import Reason, ServiceError
from services.runtime.store import Store
from services.session.cursors import mark_of
from services.session.engines import Engines
from services.session.keys import GameKeys, game_not_found
from services.session.log import decode_log
from services.session.moves import entry_of
from services.session.records import whole_record
from services.session.store import Entry, Game, Games, script

_BEGINNING = bytes(16)
"""Digest of a history without inputs."""


class CannotMend(Exception):
    """What was asked for cannot be done to this game."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the store."""

    name: str
    kind: str
    size: int
    """In bytes of memory, as the store counts them."""
    items: int
    """Fields of a hash, elements of a list, entries of a stream."""
    seconds_left: int | None
    """Until it is forgotten; None: for ever."""


@dataclass(slots=True)
class Inspection:
    """What was found."""

    game: GameKeys
    keys: list[Key]
    fields: dict[str, int]
    """Bytes of each field of the game's hash."""
    faults: list[str] = field(default_factory=list)
    """What is wrong, in words without secrets."""
    standing: Game | None = None
    log: list[engine_pb2.LoggedInput] | None = field(default_factory=list)
    """None if it cannot be read."""
    feed: list[tuple[int, Entry]] = field(default_factory=list)
    feed_readable: bool = True
    replayed: engine_pb2.ReplayResponse | None = None

    @property
    def over(self) -> bool:
        return bool(self.feed) and self.feed[-1][1].last


_LOOKS = 10
_KEY = script("key")
_DAMAGED = (msgspec.DecodeError, KeyError, TypeError, ValueError)


async def look(store: Store, games: Games, game: GameKeys) -> Inspection:
    """What the store has of a game, and whether that fits together.

    Raises:
        ServiceError: GAME_NOT_FOUND, STORE_UNAVAILABLE.
    """
    found = await _look(store, games, game)
    for _ in range(_LOOKS):
        # It is read key by key; what was changed meanwhile does not fit.
        again = await _look(store, games, game)
        if _place(again) == _place(found):
            break
        found = again
    return found


def _place(found: Inspection) -> object:
    return found.standing and found.standing.cursor


async def _look(store: Store, games: Games, game: GameKeys) -> Inspection:
    keys = [key for name in (game.game, game.log, game.feed) if (key := await _key(store, name)) is not None]
    if not keys:
        raise game_not_found()
    names: list[bytes] = await store.call("HKEYS", game.game)
    fields = {
        _shown_name(name, place): int(await store.call("HSTRLEN", game.game, name))
        for place, name in enumerate(sorted(names))
    }
    found = Inspection(game, keys, fields)
    found.faults += [f"{name} is missing" for name in _missing(game, keys, fields)]
    try:
        found.standing = await games.load(game)
    except (*_DAMAGED, ServiceError) as fault:
        if isinstance(fault, ServiceError) and fault.reason is not Reason.GAME_NOT_FOUND:
            raise
        found.faults.append("the game's hash cannot be read")
    entries = await games.log(game)
    try:
        found.log = decode_log(entries)
    except ServiceError as fault:
        found.log = None
        found.faults.append(f"the log cannot be read: {fault.message}")
    try:
        found.feed = await games.feed(game, 0)
    except _DAMAGED:
        found.feed_readable = False
        found.faults.append("the feed cannot be read")
    found.faults += _misfits(found)
    return found


def _shown_name(name: bytes, place: int) -> str:
    """Names of fields for tokens and newcomers are bytes, and tell nothing to people."""
    for start, what in ((b"t", "token"), (b"j", "join")):
        if name.startswith(start):
            return f"{what} {place}"
    return name.decode("ascii", "backslashreplace")


async def check(engines: Engines, games: Games, found: Inspection) -> None:
    """Plays the game again from its log, and compares its table and its feed with that.

    Raises:
        ServiceError: ENGINE_UNAVAILABLE, STORE_UNAVAILABLE.
    """
    born = await games.origin(found.game)
    if born is None:
        found.faults.append("what the game was created with is missing: its log cannot be played again")
        return
    if found.log is None:
        return
    try:
        found.replayed = await engines.replay(engine_pb2.ReplayRequest(origin=born[1], inputs=found.log))
    except ServiceError as refusal:
        _raise_if_away(refusal)
        found.faults.append(f"the log cannot be played again: {refusal}")
        return
    if found.standing is None:
        return
    digest = found.replayed.resolved.digest
    try:
        state = await engines.view(engine_pb2.ViewRequest(state=found.standing.state))
    except ServiceError as refusal:
        _raise_if_away(refusal)
        found.faults.append(f"the table cannot be read: {refusal}")
    else:
        if (state.digest, state.update.version) != (digest, len(found.log)):
            found.faults.append(
                f"the table is not what the log makes: it is at version {state.update.version}, "
                f"digest {state.digest.hex()}; the log makes {len(found.log)}, {digest.hex()}"
            )
    digests = [_BEGINNING, *found.replayed.digests]
    for position, entry in found.feed:
        if entry.kind != "update":
            continue
        version = table_pb2.Update.FromString(entry.fullest).version
        expected = digests[version] if version < len(digests) else None
        if expected is None or mark_of(expected, found.standing.meta.salt) != entry.mark:
            found.faults.append(f"entry {position} of the feed is not of this history")


async def rebuild(games: Games, found: Inspection) -> None:
    """Puts the table that the log makes in the place of the game's, and tells the watchers how it stands.

    Args:
        found: looked at and checked.

    Raises:
        CannotMend: the log makes no table, or the game has moved on meanwhile.
    """
    if found.replayed is None or found.standing is None:
        raise CannotMend("its log makes no table: " + "; ".join(found.faults))
    entry = entry_of(found.replayed.resolved, found.standing.meta.salt)
    keep_feed = found.feed_readable and not any(fault.startswith("entry ") for fault in found.faults)
    if not await games.rebuild(found.game, found.standing.version, found.replayed.resolved, entry, keep_feed=keep_feed):
        raise CannotMend("it has moved on meanwhile")


async def end(games: Games, found: Inspection, reason: str) -> None:
    """Closes a game before its end.

    Raises:
        CannotMend: it is over, it has moved on meanwhile, or its hash cannot be read.
    """
    if found.standing is None:
        raise CannotMend("its hash cannot be read")
    if found.over:
        raise CannotMend("it is over already")
    if not await games.close(found.game, found.standing, reason):
        raise CannotMend("it has moved on meanwhile, or is over")


def record_of(found: Inspection, *, secrets: bool) -> table_pb2.Record:
    """
    Args:
        secrets: of a game that goes on, too.

    Raises:
        CannotMend: its log makes no game, or it goes on.
    """
    if found.replayed is None or found.standing is None or found.log is None:
        raise CannotMend("its log makes no game: " + "; ".join(found.faults))
    if not (secrets or found.over):
        raise CannotMend("it goes on, so that its record has secrets")
    return whole_record(found.game, found.replayed, found.log, found.standing.meta.closed)


async def _key(store: Store, name: str) -> Key | None:
    found = await store.run(_KEY, [name])
    if found is None:
        return None
    kind, size, left, items = found
    return Key(name, kind.decode(), size, items, None if left < 0 else left)


def _missing(game: GameKeys, keys: Sequence[Key], fields: dict[str, int]) -> Iterator[str]:
    there = {key.name for key in keys}
    for name, what in ((game.game, "the game's hash"), (game.feed, "the feed")):
        if name not in there:
            yield what
    for name in ("meta", "birth", "origin", "version", "position", "mark", "state"):
        if game.game in there and name not in fields:
            yield f"the field {name}"


def _misfits(found: Inspection) -> Iterator[str]:
    standing = found.standing
    if standing is None:
        return
    if found.log is not None and standing.version != len(found.log):
        yield f"the game is at version {standing.version}, and its log has {len(found.log)} inputs"
    if found.feed:
        position, newest = found.feed[-1]
        if position != standing.cursor.position:
            yield f"the game is at place {standing.cursor.position} of its feed, which ends at {position}"
        elif newest.mark != standing.cursor.mark:
            yield "the newest entry of the feed has another mark than the game"
    if found.over and any(key.seconds_left is None for key in found.keys):
        yield "the game is over and would be kept for ever"


def _raise_if_away(refusal: ServiceError) -> None:
    if refusal.reason in (Reason.ENGINE_UNAVAILABLE, Reason.STORE_UNAVAILABLE):
        raise refusal
