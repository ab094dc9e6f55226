"""The standard health service: whether a server lives, and whether its service can do its work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from services.runtime.errors import Reason, ServiceError
from services.runtime.interceptors import Context
from services.runtime.logging import get_logger

Check = Callable[[], Awaitable[None]]
"""Raises a ServiceError if what it looks at does not answer."""

_PERIOD_SECONDS = 1.0
_ANSWER_SECONDS = 1.0
# One that hangs must not hide that others answer.
_SERVER_SECONDS = 0.7
# A service that is said not to be ready gets no calls: not for a moment's silence.
_SILENCE_SECONDS = 3.0

_log = get_logger()


class Readiness:
    """Whether what a service needs has answered lately."""

    def __init__(self) -> None:
        self._checks: dict[str, Check] = {}
        self._answered: dict[str, float] = {}

    def needs(self, what: str, check: Check) -> None:
        self._checks[what] = check

    async def look(self) -> None:
        """Asks everything once, and waits for the answers a second at most."""
        await asyncio.gather(*(self._ask(what, check) for what, check in self._checks.items()))

    async def _ask(self, what: str, check: Check) -> None:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                await check()
        except (ServiceError, TimeoutError):
            return
        self._answered[what] = time.monotonic()

    @property
    def lacking(self) -> list[str]:
        """What has never answered, or not for some seconds."""
        since = time.monotonic() - _SILENCE_SECONDS
        return [what for what in self._checks if self._answered.get(what, since - 1) < since]


class Health(health.aio.HealthServicer):
    """Knows the server as a whole, under the empty name, and each of its services by its full name."""

    def __init__(self) -> None:
        super().__init__()
        self._names = {""}
        self._lacking: list[str] | None = None

    async def set(self, service: str, status: int) -> None:
        self._names.add(service)
        await super().set(service, status)

    async def tell(self, service: str, readiness: Readiness) -> None:
        """Looks, and tells it if it has changed."""
        try:
            await readiness.look()
        except Exception:
            _log.exception("a check of readiness failed")  # a defect; what it looks at counts as silent
        lacking = readiness.lacking
        if lacking == self._lacking:
            return
        if lacking:
            _log.warning("not ready", lacking=lacking)
        elif self._lacking:
            _log.info("ready")
        self._lacking = lacking
        answer = health_pb2.HealthCheckResponse
        await self.set(service, answer.NOT_SERVING if lacking else answer.SERVING)

    async def keep_telling(self, service: str, readiness: Readiness) -> None:
        """Until cancelled."""
        while True:
            await asyncio.sleep(_PERIOD_SECONDS)
            await self.tell(service, readiness)

    async def Check(self, request: health_pb2.HealthCheckRequest, context: Context) -> health_pb2.HealthCheckResponse:
        """
        Raises:
            ServiceError: UNKNOWN_SERVICE.
        """
        if request.service not in self._names:
            raise ServiceError(Reason.UNKNOWN_SERVICE, "this server has no such service", field="service")
        return await super().Check(request, context)


async def some_server_lives(channels: Sequence[aio.Channel], unavailable: Reason) -> None:
    """
    Args:
        unavailable: what it means that none of them says so.

    Raises:
        ServiceError: for that reason.
    """
    # All are waited for: cancelled calls, one a second, would pile up in the client.
    if not any(await asyncio.gather(*map(_lives, channels))):
        raise ServiceError(unavailable, "no server answers")


async def _lives(channel: aio.Channel) -> bool:
    stub: Any = health_pb2_grpc.HealthStub(channel)  # its stubs have no types
    try:
        answer = await stub.Check(health_pb2.HealthCheckRequest(), timeout=_SERVER_SECONDS)
    except aio.AioRpcError:
        return False
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)
