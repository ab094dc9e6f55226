"""A data file with faults stops every command, one line for each."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BOX = Path("engine/camelot/data/box.toml")


@pytest.mark.parametrize("arguments", [["simulate", "camelot", "--games", "1"], ["serve", "engine"], ["demo"]])
def test_a_broken_data_file_is_told_in_a_line(tmp_path: Path, arguments: list[str]) -> None:
    shutil.copytree(ROOT / "engine", tmp_path / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    text = (tmp_path / BOX).read_text("utf-8")
    broken = text.replace("white_total = 84", "white_total = 85").replace("quests_total = 7", "quests_total = 8")
    (tmp_path / BOX).write_text(broken, "utf-8")

    ended = subprocess.run(
        [sys.executable, "-m", "services.cli", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, ROOT)))},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.splitlines() == [
        f"roundtable: DATA_FILE: {BOX}: constants.white_total: is 85, but the box holds 84",
        f"roundtable: DATA_FILE: {BOX}: constants.quests_total: is 8, but the box holds 7",
    ]
