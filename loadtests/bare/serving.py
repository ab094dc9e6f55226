"""The life of a bare process: bind, announce, serve until SIGTERM."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from dataclasses import asdict

import uvloop
from grpc import aio

from services.runtime.server import Ready
from services.runtime.settings import Settings

HOST = "127.0.0.1"


def serve(service: str, add: Callable[[aio.Server, Settings], None]) -> None:
    """Runs a server with nothing but the handlers that `add` gives it."""
    uvloop.run(_serve(service, add))


async def _serve(service: str, add: Callable[[aio.Server, Settings], None]) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    settings = Settings()
    server = aio.server()
    add(server, settings)
    port = server.add_insecure_port(f"{HOST}:0")
    await server.start()
    assert settings.ready_fd is not None, "started by one who waits for it"
    with open(settings.ready_fd, "w", encoding="utf-8") as announcement:
        announcement.write(json.dumps(asdict(Ready(service, f"{HOST}:{port}", "", os.getpid()))) + "\n")
    await stop.wait()
    await server.stop(grace=None)
