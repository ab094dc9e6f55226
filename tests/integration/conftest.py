"""Services as real processes on a real store.

The store is the one at REDIS_URL if that is set, else a container where a Docker engine answers, else the embedded
server; with TEST_CLUSTER=1 it is a cluster of such servers. Tests share it, each with games of its own.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest
from docker.errors import DockerException  # type: ignore[import-untyped]
from pydantic import SecretStr
from redis import Redis, RedisCluster
from testcontainers.community.redis import RedisContainer
from testcontainers.core.docker_client import DockerClient

from loadtests.cluster import cluster
from services.runtime.embedded import start_store
from services.runtime.processes import Processes
from services.runtime.server import Ready
from services.runtime.settings import Settings
from tests.integration.seats import Seats, Session, client_of

PLAYER_KEY = "a key of this test run"

_IMAGE = "valkey/valkey:8-alpine"

Start = Callable[[str, Settings], Ready]


@pytest.fixture(scope="session")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if url := os.environ.get("REDIS_URL"):
        yield url
        return
    with ExitStack() as stack:
        if os.environ.get("TEST_CLUSTER") == "1":
            yield stack.enter_context(cluster(tmp_path_factory.mktemp("cluster") / "nodes")).url
        elif _docker_answers():
            container = stack.enter_context(RedisContainer(_IMAGE))
            yield f"redis://{container.get_container_host_ip()}:{container.get_exposed_port(6379)}/0"
        else:
            folder = tmp_path_factory.mktemp("store")
            yield start_store(stack.enter_context(Processes(logs=folder)), folder, durability="development")


def client_of_store(url: str) -> Redis:
    """For looking at what is in the store, which may be a cluster."""
    if "+cluster" not in url:
        return Redis.from_url(url)
    client: Any = RedisCluster.from_url(url.replace("+cluster", "").partition(",")[0], protocol=2)
    return cast(Redis, client)


def _docker_answers() -> bool:
    try:
        return bool(DockerClient().client.ping())
    except DockerException:
        return False


@pytest.fixture(scope="session")
def service_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the shared services' logs."""
    return tmp_path_factory.mktemp("services")


@pytest.fixture(scope="session")
def settings(store_url: str, service_logs: Path) -> Iterator[Settings]:
    """Settings of services over the shared store and a shared engine."""
    with Processes(logs=service_logs) as processes:
        settings = Settings(
            store_url=SecretStr(store_url),
            durability="development",
            player_key=SecretStr(PLAYER_KEY),
            allow_seeds=True,
            drain_seconds=0,
            heartbeat_seconds=0.2,
            feed_entries=1000,
        )
        engine = processes.serve("engine", settings)
        yield settings.model_copy(update={"engine_addresses": (engine.address,)})


@pytest.fixture(scope="session")
def sessions(settings: Settings, service_logs: Path) -> Iterator[tuple[Ready, Ready]]:
    """Two session processes that share everything."""
    with Processes(logs=service_logs) as processes:
        yield processes.serve("session", settings), processes.serve("session", settings)


@pytest.fixture
async def both(sessions: tuple[Ready, Ready]) -> AsyncIterator[list[Session]]:
    """Clients of two session processes."""
    async with client_of(*(ready.address for ready in sessions)) as clients:
        yield clients


@pytest.fixture
def session(both: list[Session]) -> Session:
    return both[0]


@pytest.fixture
async def seats(session: Session) -> Seats:
    """A new game."""
    return await session.create()


@pytest.fixture
def store(store_url: str) -> Redis:
    """For looking at what the shared store has."""
    return client_of_store(store_url)


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """Processes that end with the test."""
    with Processes(logs=tmp_path) as processes:
        yield processes


class OwnStore:
    """A store that one test can kill; what it has answered is on its disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes = Processes(logs=folder)
        self.url = self._start()

    def _start(self) -> str:
        return start_store(self._processes, self._folder, durability="always")

    def kill(self) -> None:
        with Redis.from_url(self.url) as client:
            os.kill(client.info("server")["process_id"], signal.SIGKILL)
        self._processes.stop()

    def restart(self) -> None:
        assert self._start() == self.url

    def stop(self) -> None:
        self._processes.stop()


@pytest.fixture
def own_store(tmp_path: Path) -> Iterator[OwnStore]:
    store = OwnStore(tmp_path / "own_store")
    yield store
    store.stop()
