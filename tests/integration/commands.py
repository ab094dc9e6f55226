"""`roundtable` as a process of its own, and what it leaves behind."""

from __future__ import annotations

import os
import pty
import queue
import subprocess
import sysconfig
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import IO

ROUNDTABLE = Path(sysconfig.get_path("scripts")) / "roundtable"
MARK = "ROUNDTABLE_TEST_MARK"
PATIENCE_SECONDS = 60.0


class Lines:
    """What a process writes, line by line as it comes."""

    def __init__(self, pipe: IO[str]) -> None:
        self.seen: list[str] = []
        self._queue: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, args=(pipe,), daemon=True).start()

    def _read(self, pipe: IO[str]) -> None:
        # A terminal whose other side is closed is read with an error.
        with pipe, suppress(OSError):
            for line in pipe:
                self._queue.put(line.rstrip("\n"))
        self._queue.put(None)

    def wait(self, part: str) -> str:
        """The next line with this in it."""
        while (line := self._queue.get(timeout=PATIENCE_SECONDS)) is not None:
            self.seen.append(line)
            if part in line:
                return line
        raise AssertionError(f"ended without a line with {part!r}: {self.seen}")

    def end(self) -> None:
        while (line := self._queue.get(timeout=PATIENCE_SECONDS)) is not None:
            self.seen.append(line)


class Running:
    """The command, running in a folder. It and its descendants carry a mark by which they are found."""

    def __init__(self, folder: Path, *arguments: str, terminal: bool = False) -> None:
        """
        Args:
            terminal: its standard output is a terminal, else a pipe.
        """
        self._mark = f"{MARK}={uuid.uuid4()}"
        name, value = self._mark.split("=")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ROUNDTABLE_")}
        reading, writing = pty.openpty() if terminal else os.pipe()
        self.process = subprocess.Popen(
            [str(ROUNDTABLE), *arguments],
            cwd=folder,
            env={**environment, name: value, "TERM": "xterm", "COLUMNS": "120", "LINES": "40"},
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
        )
        os.close(writing)
        assert self.process.stderr is not None
        self.out = Lines(os.fdopen(reading, encoding="utf-8"))
        self.err = Lines(self.process.stderr)

    def end(self) -> int:
        """Waits for the end; gives the exit status."""
        status = self.process.wait(PATIENCE_SECONDS)
        self.out.end()
        self.err.end()
        return status

    def descendants(self) -> dict[int, str]:
        """Command lines of the marked processes that run, by process id."""
        found = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                if self._mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(folder.name)] = command
            except OSError:
                continue  # it ended, or is not ours to look at
        return found

    def left_behind(self) -> dict[int, str]:
        """What still runs a moment after the end."""
        deadline = time.monotonic() + 5
        while (left := self.descendants()) and time.monotonic() < deadline:
            time.sleep(0.05)
        return left
