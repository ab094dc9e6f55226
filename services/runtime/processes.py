"""Child processes that never outlive their starter, and the services as such processes."""

import json
import os
import select
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType, TracebackType

from services.runtime.folders import private_folder
from services.runtime.server import Ready
from services.runtime.settings import Settings

START_SECONDS = 20.0
# All children together; those that still run are killed then.
STOP_SECONDS = 9.5

_GUARD = Path(__file__).with_name("guard.py")
_POLL_SECONDS = 0.1
_TAIL_BYTES = 2000
_STDERR = 2


class ProcessFailed(Exception):
    """A child process did not start, or ended by itself."""


class Child:
    """A command under guard: it ends with this process, whatever happens to either."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        log: Path | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        """
        Args:
            environment: variables added to this process's.
            folder: where the command runs.
            log: file that gets its output; without one it goes to this process's standard error.
            pass_fds: file descriptors it inherits.
        """
        self.name = name
        self._log = log
        output = _STDERR if log is None else os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_GUARD), *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env={**os.environ, **(environment or {})},
                cwd=folder,
                pass_fds=pass_fds,
                umask=0o077,  # what it writes is for its owner only
                # Ctrl-C at the terminal is for the starter, which then ends its children in order.
                start_new_session=True,
            )
        finally:
            if log is not None:
                os.close(output)

    def status(self) -> int | None:
        """The exit status, 128 + signal if it was killed; None while it runs."""
        return self._process.poll()

    def stop(self, deadline: float) -> int:
        """Asks the command to end, kills it at the deadline (of `time.monotonic`); gives its exit status."""
        if self._process.poll() is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(max(0.0, deadline - time.monotonic()))
        return self.kill()

    def kill(self) -> int:
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait()

    def failure(self, what: str) -> ProcessFailed:
        """An error that tells what happened, with the end of the log."""
        message = f"{self.name} {what}"
        if self._log is not None and self._log.exists():
            tail = self._log.read_bytes()[-_TAIL_BYTES:].decode(errors="replace").strip()
            if tail:
                message += f"; its log ends with:\n{tail}"
        return ProcessFailed(message)


class Processes:
    """Children that are stopped, the last one first, when the block is left."""

    def __init__(self, logs: Path | None = None) -> None:
        """
        Args:
            logs: folder for one log file for each child; without it they write to our standard error.
        """
        self._logs = logs
        self._children: list[Child] = []

    def __enter__(self) -> "Processes":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        pass_fds: Sequence[int] = (),
    ) -> Child:
        log = None
        if self._logs is not None:
            log = private_folder(self._logs) / f"{name}.log"
        child = Child(name, command, environment=environment, folder=folder, log=log, pass_fds=pass_fds)
        self._children.append(child)
        return child

    def discard(self, child: Child) -> None:
        """Ends a child at once; it counts as none of these any more."""
        child.kill()
        self._children.remove(child)

    def serve(self, service: str, settings: Settings, command: Sequence[str] | None = None) -> Ready:
        """Starts a service with these settings and waits until it listens.

        Args:
            command: what runs the service, if not `roundtable serve`.

        Raises:
            ProcessFailed: it ended before, or did not listen within 20 seconds.
        """
        receive, announce = os.pipe()
        try:
            environment = settings.model_copy(update={"ready_fd": announce}).environment()
            child = self.start(
                service,
                command or [str(Path(sysconfig.get_path("scripts")) / "roundtable"), "serve", service],
                environment=environment,
                pass_fds=(announce,),
            )
        finally:
            os.close(announce)
        with open(receive, "rb", buffering=0) as ready:
            return _ready(child, ready.fileno())

    def check(self) -> None:
        """
        Raises:
            ProcessFailed: a child has ended by itself.
        """
        for child in self._children:
            if (status := child.status()) is not None:
                raise child.failure(f"ended by itself with status {status}")

    def watch(self) -> None:
        """Waits until a child ends by itself, which is its failure.

        Raises:
            ProcessFailed: always, unless an interrupt comes first.
        """
        while True:
            self.check()
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        deadline = time.monotonic() + STOP_SECONDS
        children, self._children = self._children[::-1], []
        try:
            for child in children:
                child.stop(deadline)
        finally:
            for child in children:
                child.kill()


def _ready(child: Child, announcement: int) -> Ready:
    deadline = time.monotonic() + START_SECONDS
    line = b""
    while not line.endswith(b"\n"):
        readable, _, _ = select.select([announcement], [], [], max(0.0, deadline - time.monotonic()))
        if not readable:
            raise child.failure(f"does not listen after {START_SECONDS:.0f} s")
        part = os.read(announcement, 4096)
        if not part:
            raise child.failure(f"ended before it listened, with status {child.kill()}")
        line += part
    return Ready(**json.loads(line))


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """While the block runs, SIGTERM and SIGHUP act like Ctrl-C, so that everything is left in order."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
            raise KeyboardInterrupt  # started in the background of a shell, which ignores Ctrl-C only
        signal.raise_signal(signal.SIGINT)

    ends = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt) for number in ends}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
