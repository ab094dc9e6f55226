"""The servers that a store is made of: one, or a cluster in which each hash slot has its own.

Commands go out as a group over one connection, and their answers come back together.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, Protocol
from urllib.parse import urlsplit

from redis import exceptions
from redis.asyncio import BlockingConnectionPool
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.crc import key_slot

Value = bytes | str | int | float
Command = Sequence[Value]

ANSWER_SECONDS = 2.0

_CONNECTIONS = 32
_CONNECT_SECONDS = 1.0
_WAIT_FOR_CONNECTION_SECONDS = 2.0
# A single server that is away is told soon; a cluster needs a moment to give a slot to another node.
_PAUSES = (0.05, 0.1)
_MOVING_SECONDS = 2.0
_MOVING_PAUSE_SECONDS = 0.05
_CLUSTER = "+cluster"

# What a cluster answers while a slot or the part of a primary goes from one node to another.
_MOVING = (
    exceptions.ClusterDownError,
    exceptions.ConnectionError,
    exceptions.MasterDownError,
    exceptions.ReadOnlyError,
    exceptions.TimeoutError,
    exceptions.TryAgainError,
)


class Server:
    """One server, over a bounded pool of connections."""

    def __init__(self, url: str) -> None:
        self._pool = BlockingConnectionPool.from_url(
            url,
            max_connections=_CONNECTIONS,
            timeout=_WAIT_FOR_CONNECTION_SECONDS,
            socket_connect_timeout=_CONNECT_SECONDS,
            socket_timeout=ANSWER_SECONDS,
            socket_keepalive=True,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
        )

    def connection(self) -> AbstractConnection:
        """A connection that is no part of the pool, for who has to hold one; to be disconnected by the caller."""
        connection: AbstractConnection = self._pool.connection_class(**self._pool.connection_kwargs)
        return connection

    async def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """The answers to commands sent together; an answer that is an error is given, not raised.

        Raises:
            ConnectionError, TimeoutError: some may have been carried out.
        """
        connection: AbstractConnection = await self._pool.get_connection()  # type: ignore[no-untyped-call]
        try:
            await connection.send_packed_command(connection.pack_commands(commands))
            return [await _answer(connection) for _ in commands]
        except BaseException:
            await connection.disconnect(nowait=True)  # no answer may be left on it
            raise
        finally:
            await self._pool.release(connection)

    async def close(self) -> None:
        await self._pool.aclose()


async def _answer(connection: AbstractConnection) -> Any:
    try:
        return await connection.read_response()
    except exceptions.ResponseError as error:
        return error


class Servers(Protocol):
    async def exchange(self, key: Value, commands: Sequence[Command]) -> list[Any]:
        """As `Server.exchange`, at the server of a key; a connection that breaks is tried again, and so are commands
        of which the first says that the key is just moving."""

    async def all(self) -> list[Server]:
        """Those that take writes."""

    async def owners(self, keys: Iterable[str]) -> list[tuple[Server, set[str]]]:
        """Which server has which of these keys."""

    def doubt(self) -> None:
        """What is known of the owners is to be asked again."""

    async def close(self) -> None: ...


class Single:
    def __init__(self, url: str) -> None:
        self._server = Server(url)

    async def exchange(self, _key: Value, commands: Sequence[Command]) -> list[Any]:
        for pause in _PAUSES:
            try:
                return await self._server.exchange(commands)
            except exceptions.ConnectionError:
                await asyncio.sleep(pause)
        return await self._server.exchange(commands)

    async def all(self) -> list[Server]:
        return [self._server]

    async def owners(self, keys: Iterable[str]) -> list[tuple[Server, set[str]]]:
        return [(self._server, set(keys))]

    def doubt(self) -> None:
        """It is always the one."""

    async def close(self) -> None:
        await self._server.close()


class Cluster:
    """The nodes of a cluster, as one of them tells."""

    def __init__(self, url: str) -> None:
        """
        Args:
            url: `redis+cluster://:password@host:port,host:port`; any nodes that are there tell the others.
        """
        parts = urlsplit(url)
        login, at, hosts = parts.netloc.rpartition("@")
        self._url = f"{parts.scheme.removesuffix(_CLUSTER)}://{login}{at}"
        self._servers: dict[str, Server] = {}
        self._known = hosts.split(",")
        """Addresses, the first to be asked first."""
        self._owners: dict[int, str] | None = None
        self._learned = 0
        self._learning = asyncio.Lock()

    async def exchange(self, key: Value, commands: Sequence[Command]) -> list[Any]:
        slot = key_slot(str(key).encode() if isinstance(key, (int, float, str)) else key)
        clock = asyncio.get_running_loop()
        deadline = clock.time() + _MOVING_SECONDS
        asking: str | None = None
        while True:
            learned = self._learned
            try:
                address = asking or await self._owner(slot)
                replies = await self._at(address, commands, asking=asking is not None)
            except (exceptions.ConnectionError, exceptions.TimeoutError, exceptions.ClusterDownError) as error:
                replies = [error]
            failure, asking = replies[0], None
            if isinstance(failure, exceptions.MovedError):
                if self._owners is not None:
                    self._owners[slot] = f"{failure.host}:{failure.port}"
            elif isinstance(failure, exceptions.AskError):
                asking = f"{failure.host}:{failure.port}"
            elif isinstance(failure, _MOVING):
                if not isinstance(failure, exceptions.TryAgainError) and learned == self._learned:
                    self.doubt()
                await asyncio.sleep(_MOVING_PAUSE_SECONDS)
            else:
                return replies
            if clock.time() > deadline:
                _raise(failure)

    async def _at(self, address: str, commands: Sequence[Command], *, asking: bool) -> list[Any]:
        if not asking:
            return await self._server(address).exchange(commands)
        permitted = [each for command in commands for each in (("ASKING",), command)]
        return (await self._server(address).exchange(permitted))[1::2]

    def _server(self, address: str) -> Server:
        if address not in self._servers:
            self._servers[address] = Server(self._url + address)
        return self._servers[address]

    async def _owner(self, slot: int) -> str:
        owner = (await self._all_owners()).get(slot)
        if owner is None:
            raise exceptions.ClusterDownError(f"CLUSTERDOWN nobody serves slot {slot}")
        return owner

    async def _all_owners(self) -> dict[int, str]:
        async with self._learning:
            if self._owners is None:
                self._owners = await self._learn()
                self._learned += 1
            return self._owners

    async def _learn(self) -> dict[int, str]:
        failure: Exception | None = None
        for address in tuple(self._known):
            try:
                (ranges,) = await self._server(address).exchange([("CLUSTER", "SLOTS")])
                if isinstance(ranges, Exception):
                    raise ranges
            except (exceptions.ConnectionError, exceptions.TimeoutError) as error:
                failure = error
                self._known.remove(address)
                self._known.append(address)
                continue
            # A node that knows no name for itself means the one it was asked by.
            asked = address.rpartition(":")[0].encode()
            owners: dict[int, str] = {}
            for begin, end, *nodes in ranges:
                addresses = [f"{(node[0] or asked).decode()}:{node[1]}" for node in nodes]
                owners.update(dict.fromkeys(range(begin, end + 1), addresses[0]))
                self._known.extend(each for each in addresses if each not in self._known)
            return owners
        raise exceptions.ConnectionError("no node of the cluster answers") from failure

    async def all(self) -> list[Server]:
        return [self._server(address) for address in sorted(set((await self._all_owners()).values()))]

    async def owners(self, keys: Iterable[str]) -> list[tuple[Server, set[str]]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for key in keys:
            found[await self._owner(key_slot(key.encode()))].add(key)
        return [(self._server(address), those) for address, those in found.items()]

    def doubt(self) -> None:
        self._owners = None

    async def close(self) -> None:
        for server in self._servers.values():
            await server.close()


def _raise(failure: Exception) -> NoReturn:
    raise failure


def servers_at(url: str) -> Servers:
    return Cluster(url) if urlsplit(url).scheme.endswith(_CLUSTER) else Single(url)
