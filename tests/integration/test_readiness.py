"""Services say by the standard health protocol whether they live, and whether they can do their work."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from pydantic import SecretStr

from services.runtime.processes import Processes
from services.runtime.server import Ready
from services.runtime.settings import Settings
from tests.integration.conftest import OwnStore

SESSION = "roundtable.session.v1.SessionService"
MATCHMAKING = "roundtable.matchmaking.v1.MatchmakingService"
SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


class Followed:
    """The health of one service."""

    def __init__(self, channel: aio.Channel, name: str) -> None:
        health: Any = health_pb2_grpc.HealthStub(channel)  # its stubs have no types
        self._health = health
        self._states = health.Watch(health_pb2.HealthCheckRequest(service=name))

    async def changed(self) -> int:
        return int((await self._states.read()).status)

    async def lives(self) -> bool:
        return bool((await self._health.Check(health_pb2.HealthCheckRequest())).status == SERVING)


@asynccontextmanager
async def followed(ready: Ready, name: str) -> AsyncIterator[Followed]:
    async with aio.insecure_channel(ready.address) as channel:
        yield Followed(channel, name)


async def test_services_are_ready_while_their_store_and_an_engine_answer(
    own_store: OwnStore, processes: Processes
) -> None:
    settings = Settings(store_url=SecretStr(own_store.url), drain_seconds=0)
    engines = [processes.serve("engine", settings) for _ in range(2)]
    settings = settings.model_copy(update={"engine_addresses": tuple(engine.address for engine in engines)})
    session = processes.serve("session", settings)
    matchmaking = processes.serve("matchmaking", settings.model_copy(update={"session_address": session.address}))
    async with (
        asyncio.timeout(60),
        followed(session, SESSION) as sessions,
        followed(matchmaking, MATCHMAKING) as matches,
    ):
        assert [await sessions.changed(), await matches.changed()] == [SERVING, SERVING]

        own_store.kill()
        assert [await sessions.changed(), await matches.changed()] == [NOT_SERVING, NOT_SERVING]
        assert await sessions.lives()
        assert await matches.lives()
        await asyncio.to_thread(own_store.restart)
        assert [await sessions.changed(), await matches.changed()] == [SERVING, SERVING]

        next_change = asyncio.ensure_future(sessions.changed())
        os.kill(engines[0].pid, signal.SIGSTOP)
        done, _ = await asyncio.wait([next_change], timeout=5)
        assert not done, "one engine is enough"
        os.kill(engines[1].pid, signal.SIGKILL)
        assert await next_change == NOT_SERVING
        os.kill(engines[0].pid, signal.SIGCONT)
        assert await sessions.changed() == SERVING
