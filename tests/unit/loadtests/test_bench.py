"""A quick run of the whole benchmark, on real processes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.catalogue import GAMES
from loadtests.bench import IN_FLIGHT
from loadtests.growth import QUICK_LEVELS
from loadtests.report import growth_met
from loadtests.tables import some_seats

_LATENCIES = {"p50_ms", "p95_ms", "p99_ms"}


@pytest.mark.slow
def test_a_quick_run_has_every_documented_key(tmp_path: Path) -> None:
    results = tmp_path / "bench.json"

    run = subprocess.run(
        [sys.executable, "-m", "loadtests.bench", "--quick", "--results", str(results)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(results.read_text(encoding="utf-8"))
    assert found.keys() == {"schema", "machine", "repeats", "quick", "engine", "state", "resolve", "turn", "store"}
    assert (found["schema"], found["repeats"], found["quick"]) == (1, 1, True)
    assert found["machine"].keys() == {"cores", "python", "platform"}
    assert found["store"].keys() == {"games", "long_game"}
    assert found["store"]["long_game"].keys() == {"moves", "trimmed_bytes"}
    for game in GAMES:
        sizes = found["store"]["games"][game.id]
        assert sizes.keys() == {"moves", "open_bytes", "half_bytes", "finished_bytes", "trimmed_bytes"}
        assert sizes["open_bytes"] < sizes["half_bytes"]
        assert sizes["trimmed_bytes"] < sizes["finished_bytes"]
        rates = found["engine"][game.id]
        assert rates.keys() == {str(seats) for seats in some_seats(game)}
        assert all(each.keys() == {"decisions_per_s", "games_per_s"} for each in rates.values())
        state = found["state"][game.id]
        assert state["bytes"].keys() == {"median", "p99", "max"}
        assert state["inputs"].keys() == {"0", "1", "5", "more"}
        assert all(each.keys() == {"share", "load_us", "save_us", "save_load_us"} for each in state["inputs"].values())
        assert found["resolve"][game.id].keys() == {"load_us", "rules_us", "messages_us", "save_us", "total_us"}
        turn = found["turn"][game.id]
        assert turn.keys() == {str(moves) for moves in IN_FLIGHT}
        ours = {"moves_per_s", *_LATENCIES}
        assert all(each.keys() == {*ours, *(f"bare_{name}" for name in ours), "ratio"} for each in turn.values())


@pytest.mark.slow
def test_a_quick_run_with_open_games_has_every_documented_key(tmp_path: Path) -> None:
    results = tmp_path / "bench-store.json"

    run = subprocess.run(
        [sys.executable, "-m", "loadtests.growth", "--quick", "--repeats", "1", "--results", str(results)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(results.read_text(encoding="utf-8"))
    assert found.keys() == {"schema", "machine", "repeats", "quick", "open", "ratio"}
    assert (found["schema"], found["repeats"], found["quick"]) == (1, 1, True)
    assert found["open"].keys() == {str(games) for games in QUICK_LEVELS}
    figures = {"bytes_per_game", "created_per_s", "move_ms", "store_cpu_ms"}
    assert all(each.keys() == figures for each in found["open"].values())
    few, many = (found["open"][str(games)]["move_ms"] for games in (QUICK_LEVELS[0], QUICK_LEVELS[-1]))
    assert found["ratio"] == many / few


@pytest.mark.parametrize(("ratio", "met"), [(0.7, True), (1.2, True), (1.201, False)])
def test_moves_may_take_a_fifth_longer_with_many_open_games(ratio: float, met: bool) -> None:
    assert growth_met({"ratio": ratio}) is met
