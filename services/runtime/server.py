"""The life of a service process: bind, announce, serve, drain, exit."""

import asyncio
import json
import os
import pkgutil
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

import uvloop
from grpc import aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

import roundtable
from services.runtime.errors import BindError
from services.runtime.health import Health, Readiness
from services.runtime.interceptors import CallInterceptor
from services.runtime.logging import configure_logging, get_logger
from services.runtime.metrics import Metrics
from services.runtime.settings import Settings, join_address

# Clients may ping every 10 s and more, also without a call; the server looks for dead connections every 30 s.
LEAST_PING_INTERVAL_MS = 10_000
_PING_INTERVAL_MS = 30_000
_PING_TIMEOUT_MS = 10_000

# The core refuses without a reason: leave what is too large, up to here, to the interceptor.
_CORE_LIMIT_FACTOR = 16

_log = get_logger()


@dataclass(frozen=True)
class Runtime:
    """What a service is composed of besides its own parts."""

    settings: Settings
    server: aio.Server
    metrics: Metrics
    readiness: Readiness


# Adds a service's servicer to the runtime's server, and holds what the servicer needs while it runs.
Compose = Callable[[Runtime], AbstractAsyncContextManager[None]]


@dataclass(frozen=True)
class Ready:
    """Where a service listens; the line that its supervising process gets as JSON."""

    service: str
    address: str
    metrics_address: str
    pid: int


def run(service: str, full_name: str, settings: Settings, compose: Compose) -> None:
    """Runs a service until SIGTERM or SIGINT, then drains it and returns.

    Args:
        service: short name, for logs: "session".
        full_name: name in the contracts, for health and reflection: "roundtable.session.v1.SessionService".

    Raises:
        BindError: the address is not free or not this machine's.
    """
    configure_logging(settings.log_level, service)
    main = _run(service, full_name, settings, compose)
    if settings.uvloop:
        uvloop.run(main)
    else:
        asyncio.run(main)


async def _run(service: str, full_name: str, settings: Settings, compose: Compose) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with serving(service, full_name, settings, compose) as ready:
        _log.info("listening", address=ready.address, metrics_address=ready.metrics_address)
        if settings.ready_fd is not None:
            with open(settings.ready_fd, "w", encoding="utf-8") as announcement:
                announcement.write(json.dumps(asdict(ready)) + "\n")
        await stop.wait()
        _log.info("draining")
    _log.info("stopped")


@asynccontextmanager
async def serving(service: str, full_name: str, settings: Settings, compose: Compose) -> AsyncIterator[Ready]:
    """Serves while the block runs, then drains: health says NOT_SERVING, streams of responses end, nothing
    more is accepted, and running calls have `drain_seconds` to finish before they are cancelled.

    Under the service's full name health says SERVING only while everything that the service needs answers.
    """
    metrics, readiness = Metrics(), Readiness()
    interceptor = CallInterceptor(metrics, settings.max_message_bytes, patience_seconds=settings.slow_watcher_seconds)
    server = aio.server(interceptors=[interceptor], options=_options(settings))
    status = Health()
    health_pb2_grpc.add_HealthServicer_to_server(status, server)
    if settings.reflection:
        _know_all_contracts()
        reflection.enable_server_reflection((full_name, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    with metrics.served(settings.host, settings.metrics_port) as metrics_address:
        async with compose(Runtime(settings, server, metrics, readiness)):
            port = _bind(server, settings)
            await server.start()
            await status.set("", health_pb2.HealthCheckResponse.SERVING)
            await status.tell(full_name, readiness)
            looking = asyncio.create_task(status.keep_telling(full_name, readiness))
            try:
                yield Ready(service, join_address(settings.host, port), metrics_address, os.getpid())
            finally:
                looking.cancel()
                await status.enter_graceful_shutdown()
                await asyncio.sleep(0)  # health watchers learn of it before their streams end
                interceptor.end_streams()
                await server.stop(settings.drain_seconds)


def _know_all_contracts() -> None:
    """Makes reflection tell of every message of the contracts: those of the games travel packed into `Any` through
    services that do not know them, and a client that asks one of these for their descriptors gets what is loaded."""
    for module in pkgutil.walk_packages(roundtable.__path__, f"{roundtable.__name__}."):
        if module.name.endswith("_pb2"):
            import_module(module.name)


def _bind(server: aio.Server, settings: Settings) -> int:
    address = join_address(settings.host, settings.port)
    try:
        return server.add_insecure_port(address)
    except RuntimeError as error:
        raise BindError(address) from error


def _options(settings: Settings) -> list[tuple[str, Any]]:
    core_limit = settings.max_message_bytes * _CORE_LIMIT_FACTOR
    return [
        ("grpc.so_reuseport", 0),  # a taken port is an error, never shared
        ("grpc.keepalive_time_ms", _PING_INTERVAL_MS),
        ("grpc.keepalive_timeout_ms", _PING_TIMEOUT_MS),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", LEAST_PING_INTERVAL_MS),
        ("grpc.max_receive_message_length", core_limit),
        ("grpc.max_send_message_length", core_limit),
    ]


def open_channel(address: str, settings: Settings) -> aio.Channel:
    """A channel from one service to another, with pings that the other allows. To be closed by the caller."""
    core_limit = settings.max_message_bytes * _CORE_LIMIT_FACTOR
    return aio.insecure_channel(
        address,
        options=[
            ("grpc.keepalive_time_ms", _PING_INTERVAL_MS),
            ("grpc.keepalive_timeout_ms", _PING_TIMEOUT_MS),
            ("grpc.keepalive_permit_without_calls", 1),
            ("grpc.http2.max_pings_without_data", 0),
            ("grpc.max_reconnect_backoff_ms", 1000),
            ("grpc.initial_reconnect_backoff_ms", 100),
            ("grpc.max_receive_message_length", core_limit),
            ("grpc.max_send_message_length", core_limit),
        ],
    )
