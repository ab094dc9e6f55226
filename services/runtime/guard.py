"""Runs a command that must not outlive whoever started it: `python guard.py COMMAND...`.

The starter holds the other end of this process's standard input. When that closes, however the starter ended,
the command is killed; on Linux also when this process is killed itself. SIGTERM is handed on, and the exit
status is the command's. A script of its own on the standard library alone, so that it starts in a few
milliseconds.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
from types import FrameType

_PR_SET_PDEATHSIG = 1


def _die_with_parent(parent: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the call
        os.kill(os.getpid(), signal.SIGKILL)


def main(command: list[str]) -> int:
    parent = os.getpid()
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        close_fds=False,
        # Safe: this process has one thread yet.
        preexec_fn=(lambda: _die_with_parent(parent)) if sys.platform == "linux" else None,
    )

    def kill_when_starter_ends() -> None:
        while os.read(0, 1):
            pass
        child.kill()

    def hand_on(number: int, _frame: FrameType | None) -> None:
        child.send_signal(number)

    signal.signal(signal.SIGTERM, hand_on)
    threading.Thread(target=kill_when_starter_ends, daemon=True).start()
    status = child.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
