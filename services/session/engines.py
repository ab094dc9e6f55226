"""The engine's replicas: inputs go over one lasting stream to each, other calls to whichever has the least to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from typing import TypeVar

from grpc import aio

from roundtable.engine.v1 import engine_pb2, engine_pb2_grpc
from services.runtime.errors import Reason, ServiceError
from services.runtime.health import some_server_lives
from services.runtime.interceptors import outgoing_metadata
from services.runtime.logging import get_logger
from services.runtime.server import open_channel
from services.runtime.settings import Settings

Answer = TypeVar("Answer")

# Rules answer within milliseconds; what takes longer is a replica that hangs or is gone.
_ANSWER_SECONDS = 2.0
_REPLAY_SECONDS = 10.0  # a whole game
_REPLICA_SECONDS = 2.0
_AVOIDED_SECONDS = 5.0
_RECONNECT_SECONDS = 0.05
# A call that ends the replica that carries it must not end them all.
_TRIES = 3

_log = get_logger()


class _NoAnswer(Exception):
    """The replica did not answer; another may."""


class _Replica:
    def __init__(self, address: str, channel: aio.Channel) -> None:
        self.address = address
        self.stub = engine_pb2_grpc.EngineServiceStub(channel)
        self.calls = 0
        """Running now."""
        self.avoided_until = 0.0
        self.connected = False
        self.channel = channel
        self._numbers = count(1)
        self._outbox: asyncio.Queue[engine_pb2.ResolveRequest | None] = asyncio.Queue()
        self._awaited: dict[int, asyncio.Future[engine_pb2.ResolveResponse]] = {}

    async def resolve(self, request: engine_pb2.ResolveRequest) -> engine_pb2.ResolveResponse:
        request.call = number = next(self._numbers)
        answer: asyncio.Future[engine_pb2.ResolveResponse] = asyncio.get_running_loop().create_future()
        self._awaited[number] = answer
        self._outbox.put_nowait(request)
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                return await answer
        except TimeoutError as error:
            raise _NoAnswer from error
        finally:
            del self._awaited[number]

    async def stay_connected(self, changed: Callable[[], None]) -> None:
        """Keeps the stream open, and opens it again whenever it ends.

        Args:
            changed: called when the replica gets connected, and when it no longer is.
        """
        while True:
            await self.channel.channel_ready()
            self.connected = True
            _log.info("engine connected", address=self.address)
            changed()
            try:
                await self._exchange()
                reason = "it ended the stream"
            except aio.AioRpcError as error:
                reason = f"{error.code().name}: {error.details()}"
            finally:
                self.connected = False
                changed()
                for answer in self._awaited.values():
                    if not answer.done():
                        answer.set_exception(_NoAnswer())
            _log.warning("engine disconnected", address=self.address, reason=reason)
            await asyncio.sleep(_RECONNECT_SECONDS)

    async def _exchange(self) -> None:
        self._outbox = outbox = asyncio.Queue[engine_pb2.ResolveRequest | None]()

        async def requests() -> AsyncIterator[engine_pb2.ResolveRequest]:
            while (request := await outbox.get()) is not None:
                yield request

        # Requests are written by one task: a stream takes one at a time, and a caller that is cancelled while it writes
        # would cancel the stream.
        stream = self.stub.Resolve(requests())
        try:
            async for response in stream:
                answer = self._awaited.get(response.call)
                if answer is not None and not answer.done():
                    answer.set_result(response)
        finally:
            stream.cancel()
            # A stream that failed is not cancelled any more, and its writer would wait for ever.
            outbox.put_nowait(None)


class Engines:
    """The rules, at whichever replica is there."""

    def __init__(self, replicas: Sequence[_Replica]) -> None:
        self._replicas = replicas
        self._changed = asyncio.Event()

    async def resolve(self, request: engine_pb2.ResolveRequest) -> engine_pb2.Resolved:
        """Applies an input to a table.

        Raises:
            ServiceError: the engine's refusal, or ENGINE_UNAVAILABLE.
        """
        response = await self._at_some_replica(lambda replica: replica.resolve(request))
        if response.HasField("error"):
            raise ServiceError.from_status(response.error)
        return response.resolved

    async def new_game(self, request: engine_pb2.NewGameRequest) -> engine_pb2.NewGameResponse:
        """Sets up a table. Raises as `resolve`."""
        return await self._at_some_replica(lambda replica: _called(replica.stub.NewGame, request))

    async def view(self, request: engine_pb2.ViewRequest) -> engine_pb2.ViewResponse:
        """Tells what a seat or a spectator may know. Raises as `resolve`."""
        return await self._at_some_replica(lambda replica: _called(replica.stub.View, request))

    async def explain(self, request: engine_pb2.ExplainRequest) -> engine_pb2.ExplainResponse:
        """Tells why a seat is or is not offered something. Raises as `resolve`."""
        return await self._at_some_replica(lambda replica: _called(replica.stub.Explain, request))

    async def replay(self, request: engine_pb2.ReplayRequest) -> engine_pb2.ReplayResponse:
        """Plays a game again. Raises as `resolve`."""
        return await self._at_some_replica(lambda replica: _called(replica.stub.Replay, request, _REPLAY_SECONDS))

    async def check(self) -> None:
        """
        Raises:
            ServiceError: ENGINE_UNAVAILABLE: no replica answers.
        """
        await some_server_lives([replica.channel for replica in self._replicas], Reason.ENGINE_UNAVAILABLE)

    async def declarations(self, request: engine_pb2.ListDeclarationsRequest) -> engine_pb2.ListDeclarationsResponse:
        """Lists what a seat may say. Raises as `resolve`."""
        return await self._at_some_replica(lambda replica: _called(replica.stub.ListDeclarations, request))

    def note_change(self) -> None:
        self._changed.set()

    async def _at_some_replica(self, call: Callable[[_Replica], Awaitable[Answer]]) -> Answer:
        # Calls change nothing at the engine, so that each can be made again elsewhere.
        for _ in range(_TRIES):
            replica = await self._least_loaded()
            replica.calls += 1
            try:
                return await call(replica)
            except _NoAnswer:
                replica.avoided_until = asyncio.get_running_loop().time() + _AVOIDED_SECONDS
            finally:
                replica.calls -= 1
        raise _unavailable()

    async def _least_loaded(self) -> _Replica:
        try:
            async with asyncio.timeout(_REPLICA_SECONDS):
                while not (connected := [each for each in self._replicas if each.connected]):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError as error:
            raise _unavailable() from error
        now = asyncio.get_running_loop().time()
        return min(connected, key=lambda replica: (replica.avoided_until > now, replica.calls))


@asynccontextmanager
async def open_engines(addresses: Sequence[str], settings: Settings) -> AsyncIterator[Engines]:
    """Connects to the replicas at these addresses; none needs to be there yet."""
    async with AsyncExitStack() as stack:
        replicas = []
        for address in addresses:
            channel = await stack.enter_async_context(open_channel(address, settings))
            replicas.append(_Replica(address, channel))
        engines = Engines(replicas)
        connecting = [asyncio.create_task(replica.stay_connected(engines.note_change)) for replica in replicas]
        try:
            yield engines
        finally:
            for task in connecting:
                task.cancel()
            await asyncio.gather(*connecting, return_exceptions=True)


async def _called(
    method: Callable[..., Awaitable[Answer]], request: object, seconds: float = _ANSWER_SECONDS
) -> Answer:
    try:
        return await method(request, timeout=seconds, metadata=outgoing_metadata())
    except aio.AioRpcError as error:
        refusal = ServiceError.from_rpc_error(error, Reason.ENGINE_UNAVAILABLE)
        # SHUTTING_DOWN is the replica's own end, not ours.
        if refusal.reason in (Reason.ENGINE_UNAVAILABLE, Reason.SHUTTING_DOWN):
            raise _NoAnswer from error
        raise refusal from error


def _unavailable() -> ServiceError:
    return ServiceError(Reason.ENGINE_UNAVAILABLE, "no replica of the engine answers")
