"""`roundtable serve` as a process."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from clients.sdk import connect
from engine.camelot.game import CAMELOT
from tests.integration.commands import ROUNDTABLE, Running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")

README = (Path(__file__).parents[2] / "README.md").read_text()

Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Running] = []

    def start(*arguments: str) -> Running:
        started.append(Running(tmp_path, "serve", *arguments))
        return started[-1]

    yield start
    for running in started:
        if running.process.poll() is None:
            running.process.kill()
        assert running.left_behind() == {}


def address(running: Running, service: str) -> str:
    return re.split("[ ,]", running.out.wait(f"{service} "))[1]


def serving(target: str) -> bool:
    with grpc.insecure_channel(target) as channel:
        health: Any = health_pb2_grpc.HealthStub(channel)  # its stubs have no types
        answer = health.Check(health_pb2.HealthCheckRequest(), timeout=10)
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


async def test_all_services_know_each_other_and_stop_on_request(start: Start) -> None:
    backend = start("all")
    engine, session, matchmaking = (address(backend, name) for name in ("engine", "session", "matchmaking"))
    assert serving(engine)

    async with connect(session, matchmaking) as roundtable:
        tickets = [await roundtable.queue(player, "camelot", 3) for player in ("a", "b", "c")]
        seats = [await ticket.seated() for ticket in tickets]
        assert len({seat.game_id for seat in seats}) == 1
        assert sorted(seat.number for seat in seats) == [0, 1, 2]

    began = time.monotonic()
    backend.process.send_signal(signal.SIGTERM)
    assert backend.end() == 0
    assert time.monotonic() - began < 10
    assert backend.left_behind() == {}


def test_the_client_in_the_readme_plays_a_game(start: Start, tmp_path: Path) -> None:
    (shown,) = (block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "clients.sdk" in block)
    backend = start("all")
    session, matchmaking = address(backend, "session"), address(backend, "matchmaking")

    played = subprocess.run(
        [sys.executable, "-c", shown, session, matchmaking], capture_output=True, text=True, check=False, timeout=60
    )

    assert played.stderr == ""
    assert played.stdout.strip() in CAMELOT.endings
    assert [each.name for each in (tmp_path / ".data").iterdir()] == ["store"]
    assert (tmp_path / ".data").stat().st_mode & 0o077 == 0


async def test_what_looks_after_games_finds_them_by_the_settings_left_for_it(start: Start, tmp_path: Path) -> None:
    backend = start("all")
    session, matchmaking = address(backend, "session"), address(backend, "matchmaking")
    async with connect(session, matchmaking) as roundtable:
        game_id = (await roundtable.create_game("camelot", 3))[0].game_id
    settings = tmp_path / ".data" / "store" / "backend.env"
    assert settings.stat().st_mode & 0o777 == 0o600

    look = ["bash", "-c", 'set -a; . "$1"; exec "$2" admin game "$3"', "-", str(settings), str(ROUNDTABLE), game_id]
    looked = subprocess.run(look, capture_output=True, text=True, check=False, timeout=60)

    assert (looked.returncode, looked.stderr) == (0, "")
    assert "nothing is wrong" in looked.stdout
    backend.process.terminate()
    assert backend.end() == 0
    assert not settings.exists()


async def test_games_outlive_the_processes(start: Start) -> None:
    first = start("all")
    session, matchmaking = address(first, "session"), address(first, "matchmaking")
    async with connect(session, matchmaking) as roundtable:
        seat = (await roundtable.create_game("camelot", 3))[0]
        before = await seat.look()
    first.process.terminate()
    assert first.end() == 0

    second = start("all")
    session, matchmaking = address(second, "session"), address(second, "matchmaking")
    async with connect(session, matchmaking) as roundtable:
        after = await roundtable.seat(seat.game_id, seat.number, seat.token, seat.commitment).look()

    assert after.view == before.view


def test_one_service_runs_in_the_process_itself(start: Start) -> None:
    engine = start("engine")
    engine.err.wait("listening")
    assert len(engine.descendants()) == 1

    engine.process.terminate()

    assert engine.end() == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "Missing argument"),
        (["oracle"], "no such service: oracle; there is engine, session, matchmaking, all"),
        (["session"], "store_url is not set: give --store-url or ROUNDTABLE_STORE_URL"),
        (["session", "--store-url", "redis://[bad"], "--store-url or ROUNDTABLE_STORE_URL: its host is malformed"),
        (["all", "--store-url", "redis://h:99999"], "--store-url or ROUNDTABLE_STORE_URL: its port"),
        (["engine", "--ready-fd", "99"], "--ready-fd or ROUNDTABLE_READY_FD: no such file descriptor"),
        (["all", "--ready-fd", "2"], "--ready-fd"),
        (["all", "--port", "7000"], "--port: only for one service"),
        (["engine", "--host", "0.0.0.0"], "not a loopback address"),
    ],
)
def test_what_cannot_be_served_is_told_in_one_line(start: Start, arguments: list[str], complaint: str) -> None:
    service = start(*arguments)

    assert service.end() == 2
    assert len(service.err.seen) == 1
    assert complaint in service.err.seen[0]


def test_a_taken_port_is_told_in_one_line(start: Start) -> None:
    engine = start("engine")
    listening = re.search(r'"address": "127\.0\.0\.1:(\d+)"', engine.err.wait("listening"))
    assert listening is not None

    other = start("engine", "--port", listening[1])

    assert other.end() == 1
    assert "port taken" in other.err.seen[-1]
    assert not any("Traceback" in line for line in other.err.seen)
