"""Starts the `roundtable` command."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Runs the command line; gives its exit status."""
    interrupt = signal.getsignal(signal.SIGINT)
    # While modules load there is nothing to leave in order, and Ctrl-C would show a traceback.
    if interrupt is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from services.cli.main import main as run

    signal.signal(signal.SIGINT, interrupt)
    return run()


if __name__ == "__main__":
    sys.exit(main())
