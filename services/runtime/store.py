"""The store client: commands and scripts that are safe to cancel, and clear errors when the store is away."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from redis import exceptions
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff

from services.runtime.errors import Reason, ServiceError
from services.runtime.logging import get_logger

Value = bytes | str | int | float
Answer = TypeVar("Answer")

_CONNECTIONS = 32
_CONNECT_SECONDS = 1.0
_ANSWER_SECONDS = 2.0
_WAIT_FOR_CONNECTION_SECONDS = 2.0
_RETRIES = 2
_RETRY_AFTER_SECONDS = 0.5

# Error replies that say that the store cannot serve now, not that the command is wrong.
_AWAY = ("CLUSTERDOWN", "LOADING", "MASTERDOWN", "MISCONF", "NOREPLICAS", "OOM", "READONLY", "TRYAGAIN")

_log = get_logger()


class Script:
    """A Lua script; the keys it touches are all handed over in KEYS."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.sha1 = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()


class Store:
    """One bounded pool of connections to the store.

    Every command runs to its end in a task of its own. A caller that is cancelled stops waiting, but the
    answer is still read, so that a connection never goes back to the pool with an answer that the next
    command would take for its own. A cancelled command may thus have happened, like one whose answer is lost.

    A command whose connection broke is sent again and so can happen twice: what writes must be idempotent.
    """

    def __init__(self, redis: Redis) -> None:
        self.redis = redis
        """For subscriptions and blocking reads, which hold a connection of their own; use it under
        `store_errors`, and never for a plain command, which would not be safe to cancel."""
        self._execute: Callable[..., Awaitable[Any]] = redis.execute_command
        self._running: set[asyncio.Task[Any]] = set()

    async def call(self, *command: Value) -> Any:
        """Runs one command. Text in answers is bytes.

        Raises:
            ServiceError: STORE_UNAVAILABLE.
        """
        return await self._to_its_end(self._execute(*command))

    async def run(self, script: Script, keys: Sequence[Value], arguments: Sequence[Value] = ()) -> Any:
        """Runs a script, which need not be loaded.

        Raises:
            ServiceError: STORE_UNAVAILABLE.
        """
        return await self._to_its_end(self._run(script, keys, arguments))

    async def _run(self, script: Script, keys: Sequence[Value], arguments: Sequence[Value]) -> Any:
        rest = (len(keys), *keys, *arguments)
        try:
            return await self._execute("EVALSHA", script.sha1, *rest)
        except exceptions.NoScriptError:
            # A store that restarted or took over has forgotten it; EVAL loads it again.
            return await self._execute("EVAL", script.source, *rest)

    async def _to_its_end(self, command: Awaitable[Answer]) -> Answer:
        task = asyncio.ensure_future(command)
        self._running.add(task)
        task.add_done_callback(self._ended)
        with store_errors():
            return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # nobody may be left to hear it

    async def close(self) -> None:
        """Waits for running commands, at most as long as an answer may take, and closes every connection."""
        if self._running:
            await asyncio.wait(self._running, timeout=_ANSWER_SECONDS)
        await self.redis.aclose()
        await self.redis.connection_pool.disconnect()


@asynccontextmanager
async def open_store(url: str) -> AsyncIterator[Store]:
    """A store client. It connects when it is first used, so that a service can start before its store."""
    retry = Retry(ExponentialBackoff(cap=0.2, base=0.05), _RETRIES, supported_errors=(exceptions.ConnectionError,))
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=_CONNECTIONS,
        timeout=_WAIT_FOR_CONNECTION_SECONDS,
        socket_connect_timeout=_CONNECT_SECONDS,
        socket_timeout=_ANSWER_SECONDS,
        socket_keepalive=True,
        retry=retry,
        protocol=2,
    )
    store = Store(Redis(connection_pool=pool))
    try:
        yield store
    finally:
        await store.close()


@contextmanager
def store_errors() -> Iterator[None]:
    """Turns what says that the store is away into STORE_UNAVAILABLE; other errors are our faults and stay."""
    try:
        yield
    except (exceptions.ConnectionError, exceptions.TimeoutError, exceptions.ClusterError) as error:
        raise _unavailable(error) from error
    except exceptions.ResponseError as error:
        if not str(error).startswith(_AWAY) and not isinstance(error, _AWAY_ERRORS):
            raise
        raise _unavailable(error) from error


# The client takes the first word off the replies it has a class for.
_AWAY_ERRORS = (
    exceptions.MasterDownError,
    exceptions.OutOfMemoryError,
    exceptions.ReadOnlyError,
    exceptions.TryAgainError,
)


def _unavailable(error: Exception) -> ServiceError:
    _log.warning("store unavailable", error=str(error))
    return ServiceError(Reason.STORE_UNAVAILABLE, "the store does not answer", retry_after=_RETRY_AFTER_SECONDS)
