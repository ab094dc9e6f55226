"""A quick run of the whole benchmark, on real processes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.catalogue import GAMES
from loadtests.bench import IN_FLIGHT
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
    assert found.keys() == {"schema", "machine", "repeats", "quick", "engine", "state", "resolve", "turn"}
    assert (found["schema"], found["repeats"], found["quick"]) == (1, 1, True)
    assert found["machine"].keys() == {"cores", "python", "platform"}
    for game in GAMES:
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
