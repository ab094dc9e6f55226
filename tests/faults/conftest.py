"""Services as real processes that a test can stop between two steps."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from services.runtime import failpoints
from services.runtime.processes import Processes
from services.runtime.server import Ready
from services.runtime.settings import Settings
from tests.integration.conftest import own_store, processes, service_logs, sessions, settings, store_url

__all__ = ["own_store", "processes", "service_logs", "sessions", "settings", "store_url"]

_SECONDS = 10.0
_POLL_SECONDS = 0.01

Stopping = Callable[[str, Settings, str], Ready]


class Stopped:
    """A process that stands still at a step."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    async def reached(self) -> None:
        async with asyncio.timeout(_SECONDS):
            while _state(self._pid) != "T":
                await asyncio.sleep(_POLL_SECONDS)

    def kill(self) -> None:
        os.kill(self._pid, signal.SIGKILL)

    def go_on(self) -> None:
        os.kill(self._pid, signal.SIGCONT)


def _state(pid: int) -> str:
    # The name in brackets before it can hold anything.
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0]


@pytest.fixture
def stopping(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> Stopping:
    """Starts a service that stops when it reaches a step for the first time."""

    def start(service: str, settings: Settings, step: str) -> Ready:
        with monkeypatch.context() as patch:
            patch.setenv(failpoints.VARIABLE, step)
            return processes.serve(service, settings)

    return start
