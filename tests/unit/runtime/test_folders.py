"""Folders that only their owner can look into, and what killed processes left in them."""

import os
import subprocess
import sys
from pathlib import Path

from services.runtime.folders import private_folder, scratch_folder


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_folder_and_what_it_needs_above_are_for_their_owner_only(tmp_path: Path) -> None:
    before = rights(tmp_path)
    folder = private_folder(tmp_path / "data" / "store")

    assert [rights(each) for each in (tmp_path, folder.parent, folder)] == [before, 0o700, 0o700]


def test_a_folder_that_everybody_could_read_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o755)
    assert rights(private_folder(folder)) == 0o700


def test_a_scratch_folder_is_private_and_goes_with_its_block(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with scratch_folder(data, "demo") as folder:
        (folder / "store").mkdir()
        assert folder.parent == data
        assert (rights(data), rights(folder)) == (0o700, 0o700)
    assert list(data.iterdir()) == []


def test_what_killed_processes_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    kept = {f"demo-{os.getpid()}-a", "demo-1-a", f"faults-{ended.pid}-a", "demo-old", "store"}
    for name in (*kept, f"demo-{ended.pid}-a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()

    with scratch_folder(tmp_path, "demo") as folder:
        assert {each.name for each in tmp_path.iterdir()} == kept | {folder.name}
