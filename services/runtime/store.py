"""The store client: commands and scripts that are safe to cancel, and clear errors when the store is away."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from redis import exceptions

from services.runtime.errors import Reason, ServiceError
from services.runtime.logging import get_logger
from services.runtime.servers import ANSWER_SECONDS, Command, Servers, Value, servers_at

Answer = TypeVar("Answer")

_RETRY_AFTER_SECONDS = 0.5
_CONFIRM_MS = 1000
# The write that a confirmation waits for leaves a key for so long.
_CONFIRM_KEY_MS = 1000

# Error replies that say that the store cannot serve now, or not under its address, not that the command is wrong.
_AWAY = (
    "CLUSTERDOWN",
    "LOADING",
    "MASTERDOWN",
    "MISCONF",
    "NOREPLICAS",
    "OOM",
    "READONLY",
    "TRYAGAIN",
    "UNBLOCKED",
    "DB index",
)

_log = get_logger()


class Script:
    """A Lua script; the keys it touches are all handed over in KEYS, and share a hash tag."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.sha1 = hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest()


class Store:
    """A store of one server or a cluster of them.

    Every command runs to its end in a task of its own. A caller that is cancelled stops waiting, but the
    answer is still read, so that a connection never goes back to the pool with an answer that the next
    command would take for its own. A cancelled command may thus have happened, like one whose answer is lost.

    A command whose connection broke is sent again and so can happen twice: what writes must be idempotent.
    """

    def __init__(self, servers: Servers, *, replicas: int = 0) -> None:
        """
        Args:
            replicas: how many must have what is to be confirmed.
        """
        self.servers = servers
        """For who holds a connection of its own; use it under `store_errors`, and never for a plain command, which
        would not be safe to cancel."""
        self.replicas = replicas
        self._running: set[asyncio.Task[Any]] = set()

    async def call(self, *command: Value) -> Any:
        """Runs one command whose first argument is its key. Text in answers is bytes.

        Raises:
            ServiceError: STORE_UNAVAILABLE.
        """
        return await self._to_its_end(self._call(command))

    async def run(
        self,
        script: Script,
        keys: Sequence[Value],
        arguments: Sequence[Value] = (),
        *,
        confirmed: bool = False,
        least: int = 0,
    ) -> Any:
        """Runs a script, which need not be loaded.

        Args:
            confirmed: return only once as many replicas as the store was opened with have everything that the script
                did and saw.
            least: how many of them at least, whatever the store was opened with.

        Raises:
            ServiceError: STORE_UNAVAILABLE; the script may have run, also if it is not confirmed.
        """
        replicas = max(self.replicas, least) if confirmed else 0
        return await self._to_its_end(self._run(script, keys, arguments, replicas))

    async def check(self) -> None:
        """
        Raises:
            ServiceError: STORE_UNAVAILABLE: none of its servers answers.
        """
        await self._to_its_end(self._check())

    async def _check(self) -> None:
        failure: Exception = exceptions.ConnectionError("the store has no server")
        for server in await self.servers.all():
            try:
                (answer,) = await server.exchange([("PING",)])
                _raised(answer)
                return
            except (exceptions.ConnectionError, exceptions.TimeoutError, exceptions.ResponseError) as error:
                failure = error
        self.servers.doubt()
        raise failure

    async def _call(self, command: Command) -> Any:
        return _raised((await self.servers.exchange(command[1] if len(command) > 1 else "", [command]))[0])

    async def _run(self, script: Script, keys: Sequence[Value], arguments: Sequence[Value], replicas: int) -> Any:
        rest = (len(keys), *keys, *arguments)
        after = _confirmation(keys[0], replicas) if replicas else []
        answer, *more = await self.servers.exchange(keys[0], [("EVALSHA", script.sha1, *rest), *after])
        if isinstance(answer, exceptions.NoScriptError):
            # A store that restarted or took over has forgotten it; EVAL loads it again.
            answer, *more = await self.servers.exchange(keys[0], [("EVAL", script.source, *rest), *after])
        _raised(answer)
        if after:
            written, having = more
            if isinstance(written, Exception) or isinstance(having, Exception) or having < replicas:
                _log.warning("not confirmed", replicas=str(having), written=str(written))
                raise ServiceError(
                    Reason.STORE_UNAVAILABLE,
                    "the store's replicas do not confirm the change",
                    retry_after=_RETRY_AFTER_SECONDS,
                )
        return answer

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
            await asyncio.wait(self._running, timeout=ANSWER_SECONDS)
        await self.servers.close()


def _confirmation(key: Value, replicas: int) -> list[Command]:
    """Waits for the replicas, on the same connection: WAIT only looks at what that connection wrote, so that after a
    script that wrote nothing it would tell success of anything. Hence a write of its own, after all the script saw."""
    tag = str(key).partition("{")[2].partition("}")[0]
    return [("SET", f"{{{tag}}}:confirm", 1, "PX", _CONFIRM_KEY_MS), ("WAIT", replicas, _CONFIRM_MS)]


def _raised(answer: Any) -> Any:
    if isinstance(answer, Exception):
        raise answer
    return answer


@asynccontextmanager
async def open_store(url: str, *, replicas: int = 0) -> AsyncIterator[Store]:
    """A store client. It connects when it is first used, so that a service can start before its store.

    Args:
        replicas: as for `Store`.
    """
    store = Store(servers_at(url), replicas=replicas)
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
