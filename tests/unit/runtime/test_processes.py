"""Child processes end with their starter, whatever ends it."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.runtime.embedded import StoreMissing, find_server, start_store
from services.runtime.processes import Child, Processes, ProcessFailed
from services.runtime.settings import Settings

ROOT = Path(__file__).parents[3]
LONG = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)",
]
# Starts a store and another process, tells that it has, and waits for its end.
STARTER = f"""
import sys, time
from pathlib import Path
from services.runtime.embedded import start_store
from services.runtime.processes import Processes
folder = Path(sys.argv[1])
with Processes(logs=folder) as processes:
    start_store(processes, folder)
    processes.start("other", {STUBBORN!r} if sys.argv[2] == "deaf" else {LONG!r})
    while not (folder / "other.log").read_text():
        time.sleep(0.01)
    print("started", flush=True)
    time.sleep(60)
"""

# A service with nothing but health.
SERVICE = """
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from services.runtime.server import Runtime, run
from services.runtime.settings import Settings

@asynccontextmanager
async def compose(runtime: Runtime) -> AsyncIterator[None]:
    yield

run("idle", "roundtable.idle.v1.IdleService", Settings(), compose)
"""


def running_in(folder: Path) -> list[str]:
    """Commands of the processes that write to files of this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "fd" / "1").startswith(str(folder)):
                found.append((process / "cmdline").read_text())
        except OSError:  # it ended meanwhile, or is not ours
            continue
    return found


def wait_until_none_runs_in(folder: Path) -> None:
    deadline = time.monotonic() + 5
    while left := running_in(folder):
        assert time.monotonic() < deadline, left
        time.sleep(0.01)


def wait_for_line(log: Path) -> None:
    deadline = time.monotonic() + 5
    while not log.exists() or not log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks for processes in /proc")


@needs_proc
@pytest.mark.parametrize(
    ("end", "other"), [(signal.SIGKILL, "deaf"), (signal.SIGTERM, "deaf"), (signal.SIGINT, "polite")]
)
def test_children_die_with_their_starter(tmp_path: Path, end: signal.Signals, other: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTER, str(tmp_path), other],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == b"started\n"
        assert len(running_in(tmp_path)) == 4  # each child and its guard
        starter.send_signal(end)
        starter.wait(timeout=5)
    wait_until_none_runs_in(tmp_path)


@needs_proc
def test_a_child_dies_with_its_guard(tmp_path: Path) -> None:
    log = tmp_path / "log"
    child = Child("long", LONG, log=log)
    wait_for_line(log)
    os.kill(child._process.pid, signal.SIGKILL)
    assert child.kill() == -signal.SIGKILL
    wait_until_none_runs_in(tmp_path)


def test_a_child_is_asked_to_end_before_it_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    child = Child("long", LONG, log=log)
    wait_for_line(log)

    assert child.stop(time.monotonic() + 5) == 128 + signal.SIGTERM


def test_a_child_that_does_not_end_is_killed_at_the_deadline(tmp_path: Path) -> None:
    log = tmp_path / "log"
    child = Child("stubborn", STUBBORN, log=log)
    wait_for_line(log)

    assert child.stop(time.monotonic() + 0.2) == 128 + signal.SIGKILL


def test_a_child_that_ends_by_itself_is_told_with_its_last_words(tmp_path: Path) -> None:
    with Processes(logs=tmp_path) as processes:
        processes.start("brief", [sys.executable, "-c", "raise SystemExit('no kingdom')"])
        with pytest.raises(ProcessFailed, match=r"(?s)brief ended by itself with status 1.*no kingdom"):
            processes.watch()


def test_a_store_folder_has_one_store_at_a_time(tmp_path: Path) -> None:
    with Processes(logs=tmp_path) as processes:
        start_store(processes, tmp_path)
        with pytest.raises(StoreMissing, match="another store uses"):
            start_store(processes, tmp_path)
        processes.stop()
        start_store(processes, tmp_path)


def test_a_store_whose_port_was_taken_gets_another(tmp_path: Path) -> None:
    with Processes(logs=tmp_path) as processes:
        url = start_store(processes, tmp_path)
        processes.stop()
        with socket.create_server(("127.0.0.1", urlsplit(url).port or 0)):
            assert start_store(processes, tmp_path) != url


def test_all_that_a_store_writes_is_for_its_owner_only(tmp_path: Path) -> None:
    with Processes(logs=tmp_path) as processes:
        start_store(processes, tmp_path / "store")
        written = [tmp_path / "store", *(tmp_path / "store").rglob("*")]
    assert any(path.name.endswith(".aof") for path in written)
    assert [path for path in written if path.stat().st_mode & 0o077] == []


def test_without_a_wheel_a_server_on_the_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(StoreMissing, match="ROUNDTABLE_STORE_URL"):
        find_server()

    server = tmp_path / "redis-server"
    server.touch(mode=0o755)
    assert find_server() == server


async def test_a_service_tells_where_it_listens_and_drains_when_told_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [sys.executable, "-c", SERVICE]
    with Processes(logs=tmp_path) as processes:
        ready = processes.serve("idle", Settings(drain_seconds=1), command)
        async with aio.insecure_channel(ready.address) as channel:
            health: Any = health_pb2_grpc.HealthStub(channel)
            answer = await health.Check(health_pb2.HealthCheckRequest())
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        os.kill(ready.pid, signal.SIGTERM)
        with pytest.raises(ProcessFailed, match="ended by itself with status 0"):
            await asyncio.to_thread(processes.watch)
    events = [json.loads(line)["event"] for line in (tmp_path / "idle.log").read_text().splitlines()]
    assert events == ["listening", "draining", "stopped"]


def test_a_service_that_cannot_start_is_told_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [sys.executable, "-c", SERVICE]
    with Processes(logs=tmp_path) as processes:
        ready = processes.serve("idle", Settings(), command)
        taken = Settings(port=int(ready.address.rpartition(":")[2]))
        with pytest.raises(ProcessFailed, match=r"(?s)ended before it listened, with status 1.*cannot listen on"):
            processes.serve("second", taken, command)
