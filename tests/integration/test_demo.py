"""`roundtable demo` as a process: whole games, and nothing left behind whatever happens."""

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.catalogue import GAMES
from engine.core.records import verify
from tests.integration.commands import Running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")

Start = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Running] = []

    def start(*arguments: str, terminal: bool = False) -> Running:
        started.append(Running(tmp_path, "demo", *arguments, terminal=terminal))
        return started[-1]

    yield start
    for running in started:
        if running.process.poll() is None:
            running.process.kill()
        assert running.left_behind() == {}


def data(folder: Path) -> list[Path]:
    return list((folder / ".data").iterdir())


def test_a_game_is_played_to_its_end_and_reported(start: Start, tmp_path: Path) -> None:
    demo = start("--players", "3", "--seed", "5")

    assert demo.end() == 0, demo.err.seen
    assert demo.err.seen == []
    *_, result, figures, last = demo.out.seen
    assert re.fullmatch(r"game 1: .+ wins?: .+; .+ traitor.*; \d+ moves \(seed 5000\)", result)
    assert re.fullmatch(r"resolving a move, .+: p50 [\d.]+ ms, p95 [\d.]+ ms, p99 [\d.]+ ms", figures)
    assert last == "1/1 games finished"
    assert demo.left_behind() == {}
    assert data(tmp_path) == []


def test_a_game_leaves_its_record(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "game.json"
    demo = start("--players", "3", "--record", str(file))

    assert demo.end() == 0, demo.err.seen
    assert f"record of the game: {file}; roundtable verify plays it again" in demo.out.seen
    record = verify(GAMES, file.read_bytes()).record
    assert (record.seats, record.verifiable) == (3, True)


def test_several_games_are_played_at_once(start: Start) -> None:
    demo = start("--players", "4", "--games", "3", "--seed", "7", "--option", "traitor_in_deck=none")

    assert demo.end() == 0, demo.err.seen
    results = [line for line in demo.out.seen if line.startswith("game ")]
    assert [re.sub(r".*\(|\)", "", line) for line in results] == ["seed 7000", "seed 7001", "seed 7002"]
    assert all("nobody was the traitor" in line for line in results)
    assert demo.out.seen[-1] == "3/3 games finished"


def test_a_terminal_shows_the_kingdom_as_it_changes(start: Start) -> None:
    demo = start("--pause", "0.02", terminal=True)

    assert demo.end() == 0, demo.err.seen
    turns = [line for line in demo.out.seen if "turn  " in line and "; move " in line]
    assert len({line.rpartition("; move ")[2] for line in turns}) > 5
    assert any("siege engines" in line for line in demo.out.seen)
    assert any("the knights have" in line for line in demo.out.seen)
    assert any("King Arthur" in line or "Sir Kay" in line for line in demo.out.seen)
    assert demo.out.seen[-1] == "1/1 games finished"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_demo_that_is_told_to_end_stops_everything(start: Start, tmp_path: Path, number: signal.Signals) -> None:
    demo = start("--pause", "1")
    demo.out.wait("move ")
    assert len(demo.descendants()) > 4

    demo.process.send_signal(number)

    assert demo.end() == 130
    assert demo.err.seen == []
    assert demo.out.seen[-1] == "0/1 games finished"
    assert demo.left_behind() == {}
    assert data(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_demo_told_to_end_while_it_starts_stops_everything(
    start: Start, tmp_path: Path, number: signal.Signals
) -> None:
    demo = start()
    while not any("serve" in command for command in demo.descendants().values()):
        assert demo.process.poll() is None

    demo.process.send_signal(number)

    assert demo.end() == 130
    assert demo.err.seen == []
    assert demo.out.seen[-1] == "0/1 games finished"
    assert demo.left_behind() == {}
    assert data(tmp_path) == []


def test_a_killed_demo_leaves_no_process_and_the_next_removes_its_data(start: Start, tmp_path: Path) -> None:
    demo = start("--pause", "1")
    demo.out.wait("move ")

    demo.process.kill()

    demo.end()
    assert demo.left_behind() == {}
    assert len(data(tmp_path)) == 1
    assert start("--players", "3", "--seed", "5").end() == 0
    assert data(tmp_path) == []


def test_a_service_that_dies_ends_the_demo(start: Start, tmp_path: Path) -> None:
    demo = start("--pause", "1")
    demo.out.wait("move ")
    engine = [
        process
        for process, command in demo.descendants().items()
        if command.endswith("serve engine ") and "guard.py" not in command
    ]
    assert len(engine) == 1

    os.kill(engine[0], signal.SIGKILL)

    assert demo.end() == 1
    assert "engine ended by itself with status 137" in demo.err.seen[0]
    assert not any("Traceback" in line or str(tmp_path) in line for line in demo.err.seen)
    assert demo.out.seen[-1] == "0/1 games finished"
    assert data(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--game", "chess"], "GAME: no such game; there is camelot"),
        (["--players", "2"], "--players: "),
        (["--option", "wizards=true"], "--option wizards: "),
        (["--option", "heal_with_merlins=perhaps"], "--option heal_with_merlins: "),
    ],
)
def test_what_cannot_be_played_is_told_in_one_line_before_anything_starts(
    start: Start, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    demo = start(*arguments)

    assert demo.end() == 2
    assert len(demo.err.seen) == 1
    assert complaint in demo.err.seen[0]
    assert list(tmp_path.iterdir()) == []
