"""Folders for what others must not read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


def private_folder(folder: Path) -> Path:
    """Makes a folder, and those above it that are missing, for their owner only."""
    for each in (*reversed(folder.parents), folder):
        if not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)
    return folder


@contextmanager
def scratch_folder(data: Path, kind: str) -> Iterator[Path]:
    """A folder below `data` that is gone after the block; so are those that processes left which were killed.

    Args:
        kind: begins its name.
    """
    private_folder(data)
    for left in data.glob(f"{kind}-*-*"):
        owner = left.name.removeprefix(f"{kind}-").partition("-")[0]
        if owner.isdigit() and not _runs(int(owner)):
            shutil.rmtree(left, ignore_errors=True)  # another may be doing the same
    with TemporaryDirectory(prefix=f"{kind}-{os.getpid()}-", dir=data.resolve()) as folder:
        yield Path(folder)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # another's
    return True
