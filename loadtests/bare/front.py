"""The process in front: it takes moves and serves feeds by the contract of the session service, of which it checks
nothing.

python -m loadtests.bare.front
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import chain
from typing import Any
from uuid import uuid4

import grpc
import msgspec
from google.protobuf.timestamp_pb2 import Timestamp
from grpc import aio
from redis.asyncio import Redis

from loadtests.bare.back import NEW_GAME, RESOLVE
from loadtests.bare.serving import serve
from roundtable.engine.v1 import engine_pb2 as engine
from roundtable.session.v1 import session_pb2 as session
from roundtable.table.v1.table_pb2 import Update
from services.runtime.settings import Settings, required

SERVICE = session.DESCRIPTOR.services_by_name["SessionService"].full_name
# Sizes are those of the session service.
FEED_ENTRIES = 64
TOKEN_CHARACTERS = 43
MARK = b"m" * 8
FINGERPRINT = b"f" * 8
CURSOR = "c" * 22
LOGGED = b"logged"

# The operations of services/session/lua without their conditions.
LOAD = """
redis.call('HMGET', KEYS[1], 'r0')
return redis.call('HMGET', KEYS[1], 'meta', 'version', 'position', 'mark', 'state', ARGV[1])
"""
COMMIT = f"""
redis.call('HGET', KEYS[1], 'version')
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'state', ARGV[2], 'mark', ARGV[3], 'a' .. ARGV[4], ARGV[5])
local fingerprints = redis.call('HGET', KEYS[1], 'r0') or ''
redis.call('HSET', KEYS[1], 'r0', string.sub(fingerprints, 1, 504) .. ARGV[6])
redis.call('RPUSH', KEYS[2], ARGV[7])
local position = redis.call('HINCRBY', KEYS[1], 'position', 1)
redis.call('XADD', KEYS[3], 'MAXLEN', {FEED_ENTRIES}, position .. '-0', 'e', ARGV[8])
redis.call('SPUBLISH', KEYS[4], ARGV[9])
"""
WAKE = "bare:wake"


class Entry(msgspec.Struct, array_like=True):
    at_ms: int
    public: bytes
    seats: dict[int, bytes]
    """Forms that differ from the public one."""


_decode_entry = msgspec.msgpack.Decoder(Entry).decode


class Feed:
    def __init__(self) -> None:
        self.position = 0
        self.reading = asyncio.Lock()
        self.watchers: list[tuple[int, asyncio.Queue[session.WatchResponse]]] = []


class Front:
    def __init__(self, store: Redis, back: aio.Channel) -> None:
        self._store = store
        self._run: Callable[..., Awaitable[Any]] = store.execute_command
        self._load = store.register_script(LOAD)
        self._commit = store.register_script(COMMIT)
        self._new_game = back.unary_unary(
            NEW_GAME,
            request_serializer=engine.NewGameRequest.SerializeToString,
            response_deserializer=engine.NewGameResponse.FromString,
        )
        self._resolve = back.unary_unary(
            RESOLVE,
            request_serializer=engine.ResolveRequest.SerializeToString,
            response_deserializer=engine.ResolveResponse.FromString,
        )
        self._feeds: defaultdict[str, Feed] = defaultdict(Feed)
        self._readings: set[asyncio.Task[None]] = set()

    async def create_game(self, request: session.CreateGameRequest, _context: object) -> session.CreateGameResponse:
        opening = await self._new_game(
            engine.NewGameRequest(game=request.game, seats=request.seats, seed=request.seed), timeout=2.0
        )
        game_id = uuid4().hex
        tokens = {f"{seat:0{TOKEN_CHARACTERS}}": seat for seat in range(request.seats)}
        fields = {"meta": MARK, "version": 0, "position": 0, "mark": MARK, "state": opening.resolved.state, **tokens}
        await self._run("HSET", game_id, *chain.from_iterable(fields.items()))
        return session.CreateGameResponse(game_id=game_id, seat_tokens=tokens, commitment=opening.commitment)

    async def choose(self, request: session.ChooseRequest, _context: object) -> session.ChooseResponse:
        game_id = request.game_id
        _meta, _version, _position, _mark, state, token = await self._load([game_id], [request.seat_token])
        seat = int(token)
        answer = engine.Answer(seat=seat, decision=request.decision_id, picks=request.picks)
        response = await self._resolve(engine.ResolveRequest(call=1, state=state, answer=answer), timeout=2.0)
        resolved = response.resolved
        public = resolved.public.SerializeToString()
        forms = {seat: update.SerializeToString() for seat, update in resolved.seats.items()}
        differing = {seat: form for seat, form in forms.items() if form != public}
        entry = msgspec.msgpack.encode(Entry(time.time_ns() // 1_000_000, public, differing))
        await self._commit(
            [game_id, f"{game_id}:log", f"{game_id}:feed", WAKE],
            [resolved.version, resolved.state, MARK, seat, forms[seat], FINGERPRINT, LOGGED, entry, game_id],
        )
        return session.ChooseResponse(update=resolved.seats[seat])

    async def watch(self, request: session.WatchRequest, _context: object) -> AsyncIterator[session.WatchResponse]:
        """Follows a game in which no move has been made yet."""
        feed = self._feeds[request.game_id]
        watcher = (int(request.seat_token), asyncio.Queue[session.WatchResponse]())
        feed.watchers.append(watcher)
        try:
            yield session.WatchResponse(cursor=CURSOR, snapshot=session.Snapshot())
            while True:
                yield await watcher[1].get()
        finally:
            feed.watchers.remove(watcher)
            if not feed.watchers:
                del self._feeds[request.game_id]

    def handlers(self) -> dict[str, Any]:
        return {
            "CreateGame": grpc.unary_unary_rpc_method_handler(
                self.create_game,
                request_deserializer=session.CreateGameRequest.FromString,
                response_serializer=session.CreateGameResponse.SerializeToString,
            ),
            "Choose": grpc.unary_unary_rpc_method_handler(
                self.choose,
                request_deserializer=session.ChooseRequest.FromString,
                response_serializer=session.ChooseResponse.SerializeToString,
            ),
            "Watch": grpc.unary_stream_rpc_method_handler(
                self.watch,
                request_deserializer=session.WatchRequest.FromString,
                response_serializer=session.WatchResponse.SerializeToString,
            ),
        }

    async def listen(self) -> None:
        """Reads on whatever feed the store tells has grown, as the session service does."""
        async with self._store.pubsub() as subscription:
            await subscription.ssubscribe(WAKE)
            while True:
                _kind, _channel, game_id = await subscription.parse_response()
                feed = self._feeds.get(game_id.decode()) if isinstance(game_id, bytes) else None
                if feed is not None:
                    reading = asyncio.create_task(self._read_on(feed, game_id.decode()))
                    self._readings.add(reading)
                    reading.add_done_callback(self._readings.discard)

    async def _read_on(self, feed: Feed, game_id: str) -> None:
        async with feed.reading:
            for _id, fields in await self._run("XRANGE", f"{game_id}:feed", f"{feed.position + 1}-0", "+"):
                feed.position += 1
                entry = _decode_entry(fields[b"e"])
                public = _response(entry, entry.public)
                private = {seat: _response(entry, form) for seat, form in entry.seats.items()}
                for seat, queue in feed.watchers:
                    queue.put_nowait(private.get(seat, public))


def _response(entry: Entry, form: bytes) -> session.WatchResponse:
    at = Timestamp()
    at.FromMilliseconds(entry.at_ms)
    return session.WatchResponse(cursor=CURSOR, at=at, update=Update.FromString(form))


def main() -> None:
    lasting: list[asyncio.Task[None]] = []

    def add(server: aio.Server, settings: Settings) -> None:
        store = Redis.from_url(required("store_url", settings.store_url).get_secret_value(), protocol=2)
        (back,) = settings.engine_addresses
        front = Front(store, aio.insecure_channel(back))
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, front.handlers()),))
        lasting.append(asyncio.create_task(front.listen()))

    serve("bare-front", add)


if __name__ == "__main__":
    main()
