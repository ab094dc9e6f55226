"""The backend under faults: every process can be killed and comes back, and every answer passes a proxy."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Protocol
from urllib.parse import urlsplit
from urllib.request import urlopen

from pydantic import SecretStr
from redis import Redis

from loadtests.cluster import Cluster
from loadtests.faults.proxy import Proxy
from services.runtime.embedded import start_store
from services.runtime.processes import Processes
from services.runtime.server import Ready
from services.runtime.settings import Settings
from services.session.keys import BUCKETS, wake_channel

# How long answers are lost or held back.
_SHORTEST_SECONDS = 0.3
_LONGEST_SECONDS = 1.2
_LONGEST_AWAY_SECONDS = 0.5
_LONGEST_FREEZE_SECONDS = 0.7
"""Shorter than what makes a replica take over."""
_BUCKETS_MOVED = 8
_SHARE_CUT = 0.5
_METRICS_SECONDS = 2.0

Act = Callable[[Random], Awaitable[None]]
"""Does something to a victim, and returns once it serves again."""


@dataclass(frozen=True)
class Victim:
    name: str
    group: str
    """At most one of a group is in trouble at a time, where there are others to take over."""
    acts: Mapping[str, Act]
    """By kind of fault."""


class StoreUnderFaults(Protocol):
    """What a phase of the run has its games in."""

    @property
    def settings(self) -> Mapping[str, object]:
        """Of the services that use it."""

    @property
    def victims(self) -> list[Victim]: ...

    def names(self) -> list[str]:
        """The name of every key and channel."""


class SingleStore:
    """One node, which has on its disk what it has answered."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._proxy = Proxy()
        self._processes = Processes(folder)
        self._url = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[SingleStore]:
        await self._proxy.open()
        try:
            await self._start()
            yield self
        finally:
            await asyncio.to_thread(self._processes.stop)
            await self._proxy.close()

    async def _start(self) -> None:
        self._url = await asyncio.to_thread(start_store, self._processes, self._folder, durability="always")
        self._proxy.upstream = urlsplit(self._url).netloc.rpartition("@")[2]

    def _client(self) -> Redis:
        return Redis.from_url(self._url)

    @property
    def settings(self) -> Mapping[str, object]:
        proxied = urlsplit(self._url)
        password = proxied.netloc.rpartition("@")[0]
        url = proxied._replace(netloc=f"{password}@{self._proxy.address}").geturl()
        return {"store_url": SecretStr(url), "durability": "always"}

    @property
    def victims(self) -> list[Victim]:
        return [Victim("store", "store", {"store killed": self._kill, **losses("store", self._proxy)})]

    async def _kill(self, random: Random) -> None:
        with self._client() as client:
            process: int = client.info("server")["process_id"]
        self._proxy.upstream = None
        os.kill(process, signal.SIGKILL)
        await asyncio.to_thread(self._processes.stop)
        await asyncio.sleep(random.uniform(0.0, _LONGEST_AWAY_SECONDS))
        await self._start()

    def names(self) -> list[str]:
        with self._client() as client:
            found = [*client.scan_iter(count=1000), *client.pubsub_channels(), *client.pubsub_shardchannels()]
            return [repr(name) for name in found]


class ClusterStore:
    """Three primaries, each with a replica that has what was answered."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cluster: Cluster

    @asynccontextmanager
    async def running(self) -> AsyncIterator[ClusterStore]:
        self._cluster = Cluster(self._folder, "everysec")
        try:
            await asyncio.to_thread(self._cluster.form)
            yield self
        finally:
            await asyncio.to_thread(self._cluster.stop)

    @property
    def settings(self) -> Mapping[str, object]:
        return {"store_url": SecretStr(self._cluster.url), "durability": "replicated"}

    @property
    def victims(self) -> list[Victim]:
        acts = {
            "primary killed": self._kill,
            "primary answers late": self._freeze,
            "primary hands over": self._hand_over,
            "slots moved": self._move,
        }
        return [Victim("cluster", "cluster", {kind: self._until_well(act) for kind, act in acts.items()})]

    def _until_well(self, act: Callable[[Random], None]) -> Act:
        """Until every shard has caught up nothing else is done to any."""

        def whole(random: Random) -> None:
            act(random)
            self._cluster.wait_until_well()

        async def away(random: Random) -> None:
            await asyncio.to_thread(whole, random)

        return away

    def _kill(self, random: Random) -> None:
        primary = random.choice(self._cluster.primaries())
        self._cluster.kill_primary(primary)
        primary.start()

    def _freeze(self, random: Random) -> None:
        with random.choice(self._cluster.primaries()).frozen():
            time.sleep(random.uniform(_SHORTEST_SECONDS, _LONGEST_FREEZE_SECONDS))

    def _hand_over(self, random: Random) -> None:
        self._cluster.hand_over(random.choice(self._cluster.primaries()))

    def _move(self, random: Random) -> None:
        buckets = random.sample(range(BUCKETS), _BUCKETS_MOVED)
        slots = [self._cluster.slot_of(wake_channel(bucket)) for bucket in buckets]
        self._cluster.move(slots, random.choice(self._cluster.primaries()))

    def names(self) -> list[str]:
        found = []
        for node in self._cluster.primaries():
            cursor = b"0"
            while True:
                cursor, keys = node.ask("SCAN", cursor, "COUNT", 1000)
                found += keys
                if cursor == b"0":
                    break
            found += node.ask("PUBSUB", "CHANNELS") + node.ask("PUBSUB", "SHARDCHANNELS")
        return [repr(name) for name in found]


class Service:
    """A process of a service, always at the same address."""

    def __init__(self, name: str, kind: str, settings: Settings, logs: Path) -> None:
        self.name = name
        self.proxy = Proxy()
        self._kind = kind
        self._settings = settings
        self._processes = Processes(logs / name)
        self._ready: Ready | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Service]:
        await self.proxy.open()
        try:
            await self._start()
            yield self
        finally:
            await asyncio.to_thread(self._processes.stop)
            await self.proxy.close()

    async def _start(self) -> None:
        self._ready = await asyncio.to_thread(self._processes.serve, self._kind, self._settings)
        self.proxy.upstream = self._ready.address

    @property
    def victim(self) -> Victim:
        return Victim(self.name, self._kind, {f"{self._kind} killed": self._kill, **losses(self._kind, self.proxy)})

    async def _kill(self, random: Random) -> None:
        assert self._ready is not None, "running"
        self.proxy.upstream = None
        os.kill(self._ready.pid, signal.SIGKILL)
        self._ready = None
        await asyncio.to_thread(self._processes.stop)
        await asyncio.sleep(random.uniform(0.0, _LONGEST_AWAY_SECONDS))
        await self._start()

    async def metrics(self) -> str:
        """As Prometheus would get them; empty while it is down."""
        if self._ready is None:
            return ""
        address = f"http://{self._ready.metrics_address}/metrics"
        try:
            return await asyncio.to_thread(_get, address)
        except OSError:
            return ""


def _get(address: str) -> str:
    with urlopen(address, timeout=_METRICS_SECONDS) as answer:
        text: str = answer.read().decode()
        return text


def losses(kind: str, proxy: Proxy) -> dict[str, Act]:
    async def drop(random: Random) -> None:
        await proxy.drop(random.uniform(_SHORTEST_SECONDS, _LONGEST_SECONDS))

    async def delay(random: Random) -> None:
        await proxy.delay(random.uniform(_SHORTEST_SECONDS, _LONGEST_SECONDS))

    return {f"{kind} answers lost": drop, f"{kind} answers late": delay}


@dataclass(frozen=True)
class Stage:
    store: StoreUnderFaults
    settings: Settings
    services: list[Service]

    def addresses(self, kind: str) -> list[str]:
        return [service.proxy.address for service in self.services if service.name.startswith(kind)]

    def target(self, kind: str) -> str:
        """The processes of a service, as a list that gRPC chooses from."""
        return "ipv4:" + ",".join(self.addresses(kind))

    @property
    def victims(self) -> list[Victim]:
        async def cut(random: Random) -> None:
            for service in self.services:
                if service.name.startswith("session"):
                    service.proxy.cut(random, _SHARE_CUT)

        streams = Victim("streams", "streams", {"streams cut": cut})
        return [*self.store.victims, *(service.victim for service in self.services), streams]


@asynccontextmanager
async def services_on(store: StoreUnderFaults, logs: Path) -> AsyncIterator[Stage]:
    """Two processes of each service over a store."""
    settings = Settings(
        allow_seeds=True, heartbeat_seconds=1.0, feed_entries=10_000, drain_seconds=0, log_level="debug"
    ).model_copy(update=store.settings)
    async with AsyncExitStack() as stack:

        async def start(kind: str, number: int) -> Service:
            service = Service(f"{kind}-{number}", kind, settings, logs)
            return await stack.enter_async_context(service.running())

        stage = Stage(store, settings, [])
        stage.services.extend([await start("engine", number) for number in (1, 2)])
        settings = settings.model_copy(update={"engine_addresses": tuple(stage.addresses("engine"))})
        stage.services.extend([await start("session", number) for number in (1, 2)])
        settings = settings.model_copy(update={"session_address": stage.target("session")})
        stage.services.extend([await start("matchmaking", number) for number in (1, 2)])
        yield stage
