"""Games in the store: each is read by one script and changed by one, whole or not at all."""

from __future__ import annotations

import secrets
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib.resources import files
from typing import NamedTuple

import msgspec

from roundtable.engine.v1 import engine_pb2
from roundtable.session.v1 import session_pb2
from services.runtime import failpoints
from services.runtime.errors import Reason, ServiceError
from services.runtime.servers import Value
from services.runtime.settings import Settings
from services.runtime.store import Script, Store
from services.session.cursors import MARK_BYTES, Cursor
from services.session.keys import GameKeys, game_not_found
from services.session.log import decision_number, encode_input
from services.session.requests import FINGERPRINT_BYTES, NO_REQUEST, Request

_HELD = 1
"""How many replicas at least confirm changes of a game that was begun on a replicated store, even for a process that is
told to wait for none: nobody lowers the level of games in play, by mistake least of all."""
TRIM_MS = 10 * 60 * 1000
"""How long the feed of a game that is over is kept, for those whose connection is just broken."""
LOOK_MS = 24 * 3600 * 1000
"""How often it is looked whether a game is abandoned, at least."""

_INDEX_MS = 2000
"""When a new game is put into its players' lists by somebody else, if its process died before."""
ORDERS_BYTES = 16 * 1024
"""What all changes of a seat's standing orders in a game may take, as they stay in its log."""
_ORDERS_CHANGE_BYTES = 256
"""What a change takes besides its keys and options."""

# With what the store adds to a value of 62, they just fit into 512 bytes, the size in which it takes memory.
_FINGERPRINTS_IN_A_CHUNK = 62

_encode = msgspec.msgpack.encode


class Meta(msgspec.Struct, frozen=True, array_like=True):
    """What hardly ever changes about a game and is needed in every call."""

    seats: int
    """How many the game was dealt for."""
    spectators: bool
    salt: bytes
    closed: str = ""
    """Why the game was closed before its end; empty if it was not."""
    silent: bool = False
    """Nobody can say anything."""
    join_token: bytes = b""
    """Digest of the token with which newcomers join; empty if nobody can."""
    joined: int = 0
    """How many seats were added since."""
    left: tuple[int, ...] = ()
    """Seats that left: their tokens can only watch."""

    @property
    def all_seats(self) -> int:
        """How many the game has had; they are numbered from 0."""
        return self.seats + self.joined


class Seated(msgspec.Struct, frozen=True, array_like=True):
    """Whose games a game is; kept if it has players."""

    game: str
    """Id of the game that is played."""
    created_ms: int
    players: list[str]
    """Their ids by seat; empty for a seat that has no player."""


class Birth(msgspec.Struct, frozen=True, array_like=True):
    """What a repeated CreateGame is answered from."""

    content: bytes
    """Digest of what was asked for."""
    salt: bytes
    sealed_seats: bytes
    """The secrets of the seats that were dealt, then that of the join token if there is one."""
    commitment: bytes
    """The engine's message, encoded."""


class Arrival(msgspec.Struct, frozen=True, array_like=True):
    """What a repeated Join is answered from."""

    seat: int
    salt: bytes
    sealed: bytes
    """The secret of the seat."""

    def field(self, request_id: str) -> dict[str | bytes, bytes]:
        """Where a game keeps it."""
        return {_arrival_field(request_id): _encode(self)}


def _arrival_field(request_id: str) -> bytes:
    return b"j" + blake2b(request_id.encode(), digest_size=16, person=b"join").digest()


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One entry of the feed, in each form that somebody may see; the forms are encoded messages."""

    mark: bytes
    at_ms: int
    """When it was made, in milliseconds since 1970."""
    last: bool
    """The game is over with it."""
    public: bytes
    seats: dict[int, bytes]
    """Forms that differ from the public one."""
    kind: str = "update"
    """The field of a `WatchResponse` that the forms are."""
    only: int | None = None
    """The seat that alone is told of it, if it tells the others nothing; there is no public form then."""

    def form(self, seat: int | None) -> bytes | None:
        """What a seat or a spectator may see of it; None: that there is a place in the feed, and nothing else."""
        if self.only is not None:
            return self.fullest if seat == self.only else None
        return self.public if seat is None else self.seats.get(seat, self.public)

    @property
    def fullest(self) -> bytes:
        """The form that tells where the game is: the public one, if there is one."""
        return self.public if self.only is None else self.seats[self.only]


class _Answer(msgspec.Struct, frozen=True, array_like=True):
    version: int
    update: bytes


_decode_meta = msgspec.msgpack.Decoder(Meta).decode
_decode_birth = msgspec.msgpack.Decoder(Birth).decode
_decode_arrival = msgspec.msgpack.Decoder(Arrival).decode
_unpack_entry = msgspec.msgpack.Decoder(Entry).decode
_unpack_answer = msgspec.msgpack.Decoder(_Answer).decode

# Shorter texts hardly shrink.
_COMPRESS_BYTES = 160
_COMPRESSED = b"\x78"
"""First byte of what zlib made; no array in MessagePack begins with it."""


def _compact(kept: Entry | _Answer) -> bytes:
    encoded = _encode(kept)
    return zlib.compress(encoded, 1) if len(encoded) >= _COMPRESS_BYTES else encoded


def _expand(compact: bytes) -> bytes:
    return zlib.decompress(compact) if compact[:1] == _COMPRESSED else compact


def decode_entry(compact: bytes) -> Entry:
    """From what `encode_entry` gave."""
    try:
        return _unpack_entry(_expand(compact))
    except zlib.error as error:
        raise msgspec.DecodeError(str(error)) from error


def _decode_answer(compact: bytes) -> _Answer:
    return _unpack_answer(_expand(compact))


@dataclass(frozen=True, slots=True)
class Earlier:
    """What came of an earlier request of the same id."""

    version: int
    """The version it made; 0 if it was something said, which makes none."""
    fingerprint: bytes
    update: bytes | None
    """The seat's form of the step, encoded; None if the seat has had a later one."""


@dataclass(frozen=True, slots=True)
class Game:
    """A game as it stands, and one seat's part in it."""

    meta: Meta
    version: int
    cursor: Cursor
    state: bytes
    seat: int | None
    """Whose token it is; None if it is no seat's."""
    held: bool
    """What comes into its feed is not shown before replicas have it."""
    earlier: Earlier | None


class Begun(NamedTuple):
    """A table that has been set up, as the engine gives it."""

    state: bytes
    origin: bytes


@dataclass(frozen=True, slots=True)
class Step:
    """What a commit puts into a game."""

    seat: int
    """Whose request it was."""
    resolved: engine_pb2.Resolved
    entry: Entry
    fields: Mapping[str | bytes, str | bytes | int] = field(default_factory=dict)
    """What else changes of the game."""

    @property
    def answer(self) -> bytes:
        """The step as the seat may see it; an encoded `Update`."""
        form = self.entry.form(self.seat)
        if form is None:
            raise AssertionError("a step that is not told to the seat that made it")
        return form


class Games:
    """The games of a store. Every method raises STORE_UNAVAILABLE when it does not answer."""

    def __init__(self, store: Store, *, feed_entries: int, finished_seconds: int, abandoned_seconds: int) -> None:
        """
        Args:
            feed_entries: how many entries a feed keeps.
            finished_seconds: how long a game can be looked at after its end.
            abandoned_seconds: how long nothing may happen in a game before it is closed.
        """
        self._store = store
        self._feed_entries = feed_entries
        self._finished_seconds = finished_seconds
        self._abandoned_ms = abandoned_seconds * 1000

    async def birth(self, game: GameKeys) -> Birth | None:
        """How a game was created, if it was."""
        birth = await self._store.call("HGET", game.game, "birth")
        if birth is None:
            return None
        await show(self._store, game)
        return _decode_birth(birth)

    async def arrival(self, game: GameKeys, request_id: str) -> Arrival | None:
        """The seat that a newcomer's request took, if it did."""
        arrival = await self._store.call("HGET", game.game, _arrival_field(request_id))
        if arrival is None:
            return None
        await show(self._store, game)
        return _decode_arrival(arrival)

    async def create(
        self,
        game: GameKeys,
        meta: Meta,
        birth: Birth,
        tokens: Sequence[bytes],
        begun: Begun,
        entry: Entry,
        seated: Seated | None = None,
    ) -> Birth:
        """Puts a game there unless it is there already, and gives the birth of the one that is there.

        Args:
            tokens: digests of the seats' tokens, in the order of the seats.
            seated: its players, if it has some; they are due to be told.
        """
        fields: Mapping[str | bytes, str | bytes | int] = {
            "meta": _encode(meta),
            "birth": _encode(birth),
            "version": 0,
            "position": 1,
            "mark": entry.mark,
            "state": begun.state,
            "origin": begun.origin,
            **({"shown": 0} if self._store.replicas else {}),
            **({"players": _encode(seated)} if seated else {}),
            **{b"t" + token: seat for seat, token in enumerate(tokens)},
        }
        look_after = (abandoned_work(game), entry.at_ms + min(self._abandoned_ms, LOOK_MS))
        index = (index_work(game) if seated else "", entry.at_ms + _INDEX_MS)
        arguments = [_compact(entry), *look_after, *index, *(part for field in fields.items() for part in field)]
        born = await self._store.run(_CREATE, [game.game, game.feed, game.due], arguments, confirmed=True)
        await show(self._store, game)
        return _decode_birth(born)

    async def load(self, game: GameKeys, token: bytes = b"", request: Request | None = None) -> Game:
        """
        Args:
            token: digest of a seat's token; empty for a spectator.

        Raises:
            ServiceError: GAME_NOT_FOUND.
        """
        asked: list[Value] = [token, request.id if request else b"", FINGERPRINT_BYTES, _FINGERPRINTS_IN_A_CHUNK]
        found = await self._store.run(_LOAD, [game.game], asked)
        if found is None:
            raise game_not_found()
        if found[5] is not None and int(found[5]) < int(found[2]):
            # Somebody's change is not confirmed yet: it may be lost, so that nobody must see it before.
            found = await self._store.run(_LOAD, [game.game], asked, confirmed=True, least=_HELD)
            await _show(self._store, game, int(found[2]))
        meta, version, position, mark, state, shown, seat, *earlier = found
        return Game(
            _decode_meta(meta),
            int(version),
            Cursor(int(position), mark),
            state,
            None if seat is None else int(seat),
            shown is not None,
            _earlier(*earlier) if earlier else None,
        )

    async def commit(self, game: GameKeys, before: Game, step: Step, request: Request | None) -> bool:
        """Puts a step into a game and wakes its watchers; False if the game has moved on since `before`.

        Args:
            request: of a seat, if it is one's.

        After STORE_UNAVAILABLE the step may have been put there or not; the same request tells.

        Raises:
            ServiceError: ORDERS_EXHAUSTED.
        """
        resolved, entry = step.resolved, step.entry
        first = request.fingerprint if request is not None else NO_REQUEST
        fingerprints = first + NO_REQUEST * (len(resolved.inputs) - 1)
        answer = _Answer(before.version + 1, step.answer)
        position: int = await self._store.run(
            _COMMIT,
            [game.game, game.log, game.feed, game.wake, game.due],
            [
                before.version,
                resolved.version,
                resolved.state,
                entry.mark,
                step.seat,
                _compact(answer),
                fingerprints,
                FINGERPRINT_BYTES,
                _FINGERPRINTS_IN_A_CHUNK,
                _compact(entry),
                self._feed_entries,
                self._finished_seconds if entry.last else 0,
                game.id,
                abandoned_work(game),
                TRIM_MS,
                _orders_size(resolved.inputs[0]),
                ORDERS_BYTES,
                2 * len(step.fields),
                *(part for changed in step.fields.items() for part in changed),
                *map(encode_input, resolved.inputs),
            ],
            confirmed=True,
            least=_HELD if before.held else 0,
        )
        if position < 0:
            raise ServiceError(
                Reason.ORDERS_EXHAUSTED,
                "the seat has changed its standing orders too much in this game",
                field="orders",
            )
        failpoints.step("move.stored")
        if position and before.held:
            await _show(self._store, game, position)
        return position > 0

    async def log(self, game: GameKeys, version: int | None = None) -> list[bytes]:
        """The inputs of a game; the first made version 1.

        Args:
            version: up to which they are wanted; None: all that are there, confirmed or not.
        """
        if version == 0:
            return []
        last = -1 if version is None else version - 1
        entries: list[bytes] = await self._store.call("LRANGE", game.log, 0, last)
        return entries

    async def answers(self, game: GameKeys, decision: str, version: int) -> list[tuple[int, bytes]]:
        """The inputs that answered a decision, each with the version that it made; none if its id is not a number.

        Args:
            version: up to which to look.
        """
        number = decision_number(decision)
        if number is None:
            return []
        return [(version, entry) for version, entry in await self._store.run(_ANSWERS, [game.log], [number, version])]

    async def feed(self, game: GameKeys, position: int) -> list[tuple[int, Entry]]:
        """The entries that the feed shows from this position on, this one included, with their positions."""
        found: list[tuple[bytes, list[bytes]]] = await self._store.run(_FEED, [game.game, game.feed], [position])
        return [(int(name.partition(b"-")[0]), decode_entry(entry)) for name, (_, entry) in found]

    async def origin(self, game: GameKeys) -> tuple[Birth, bytes] | None:
        """How a game was created, and the table's origin: with the log it is the game. Secret."""
        birth, origin = await self._store.call("HMGET", game.game, "birth", "origin")
        return None if birth is None or origin is None else (_decode_birth(birth), origin)

    async def last_entry(self, game: GameKeys) -> Entry | None:
        """The newest entry that the feed shows."""
        newest: bytes | None = await self._store.run(_NEWEST, [game.game, game.feed])
        return None if newest is None else decode_entry(newest)

    async def trim(self, game: GameKeys) -> None:
        """Leaves of the feed of a game that is over only the end, and drops what only moves need."""
        await self._store.run(_TRIM, [game.feed, game.game])

    async def close(self, game: GameKeys, before: Game, reason: str) -> bool:
        """Ends a game without an outcome and tells its watchers; False if it has moved on since `before`, or is over.

        Args:
            reason: in short English, at most 120 characters.
        """
        closed = session_pb2.Closed(reason=reason).SerializeToString()
        entry = Entry(secrets.token_bytes(MARK_BYTES), now_ms(), True, closed, {}, "closed")
        done: int = await self._store.run(
            _CLOSE,
            [game.game, game.log, game.feed, game.wake, game.due],
            [
                before.version,
                _encode(msgspec.structs.replace(before.meta, closed=reason)),
                entry.mark,
                _compact(entry),
                self._feed_entries,
                self._finished_seconds,
                game.id,
                abandoned_work(game),
            ],
            confirmed=True,
        )
        await show(self._store, game)
        return bool(done)

    async def rebuild(
        self, game: GameKeys, before: int, resolved: engine_pb2.Resolved, entry: Entry, *, keep_feed: bool
    ) -> bool:
        """Puts a table that was made anew from the log in the place of the game's, and an entry that tells it into the
        feed, which is begun anew if its entries are not to be kept; False if the game's version is no longer `before`.
        """
        done: int = await self._store.run(
            _REBUILD,
            [game.game, game.log, game.feed, game.wake, game.due],
            [
                before,
                resolved.version,
                resolved.state,
                entry.mark,
                _compact(entry),
                self._feed_entries,
                game.id,
                int(keep_feed),
            ],
            confirmed=True,
        )
        await show(self._store, game)
        return bool(done)


def games_of(store: Store, settings: Settings) -> Games:
    return Games(
        store,
        feed_entries=settings.feed_entries,
        finished_seconds=settings.finished_game_seconds,
        abandoned_seconds=settings.abandoned_game_seconds,
    )


async def show(store: Store, game: GameKeys) -> None:
    """Shows all that the feed of a game has got, once replicas have it, if it waits for that."""
    if position := await _unshown(store, game):
        await _show(store, game, position)


async def show_late(store: Store, game: GameKeys) -> None:
    """Due work: as `show`, for a process that confirmed something and died before it showed it."""
    await _show(store, game, await _unshown(store, game))


async def _unshown(store: Store, game: GameKeys) -> int:
    """How far the feed of a game goes, confirmed, if it shows less of it; else 0."""
    position: int = await store.run(_UNSHOWN, [game.game], confirmed=True)
    if position and not store.replicas:
        position = await store.run(_UNSHOWN, [game.game], confirmed=True, least=_HELD)
    return position


async def _show(store: Store, game: GameKeys, position: int) -> None:
    await store.run(_SHOW, [game.game, game.wake, game.due], [position, game.id])


def encode_entry(entry: Entry) -> bytes:
    """As the feed keeps it."""
    return _compact(entry)


def encode_meta(meta: Meta) -> bytes:
    return _encode(meta)


def without(meta: Meta, seat: int) -> Meta:
    """The same of a game that a seat leaves."""
    return msgspec.structs.replace(meta, left=(*meta.left, seat))


def _orders_size(logged: engine_pb2.LoggedInput) -> int:
    """What an input counts as a change of standing orders; 0 if it is none."""
    if logged.kind != engine_pb2.INPUT_KIND_STANDING_ORDERS:
        return 0
    return _ORDERS_CHANGE_BYTES + sum(len(key.encode()) + len(option.encode()) for key, option in logged.orders.items())


def abandoned_work(game: GameKeys) -> str:
    """The name of the work that closes a game in which nothing has happened for long."""
    return f"abandoned {game.id}"


def index_work(game: GameKeys) -> str:
    """The name of the work that puts a game into the lists of its players."""
    return f"index {game.id}"


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def _earlier(version: int, fingerprint: bytes, answer: bytes | None) -> Earlier:
    kept = None if answer is None else _decode_answer(answer)
    return Earlier(version, fingerprint, kept.update if kept is not None and kept.version == version else None)


def _source(name: str) -> str:
    return files(__package__).joinpath("lua", f"{name}.lua").read_text(encoding="utf-8")


def script(name: str, *parts: str) -> Script:
    """One of this package's scripts that leave the feed as it is.

    Args:
        parts: what it shares with others.
    """
    return Script("".join(map(_source, (*parts, name))))


def telling(name: str, *parts: str) -> Script:
    """One of this package's scripts that make the feed grow."""
    return script(name, "tell", *parts)


_LOAD = script("load", "index")
_COMMIT = telling("commit", "index")
_CREATE = script("create")
_ANSWERS = script("answers")
_FEED = script("feed")
_NEWEST = script("newest")
_UNSHOWN = script("unshown")
_SHOW = script("show")
_TRIM = script("trim", "index")
_CLOSE = telling("close")
_REBUILD = telling("rebuild")
