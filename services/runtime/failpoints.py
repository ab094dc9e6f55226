"""Named steps at which a test stops a process, to see what comes of its death or its pause there.

The step is named by an environment variable that is read once, when the process starts; no caller can reach it. Without
it, a step costs a call of an empty function.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

VARIABLE = "ROUNDTABLE_STOP_AT"


def _stopping_at(stop: str | None) -> Callable[[str], None]:
    if stop is None:
        return lambda _step: None
    due = True

    def step(name: str) -> None:
        nonlocal due
        if due and name == stop:
            # Once: whoever lets the process go on wants to see the rest.
            due = False
            os.kill(os.getpid(), signal.SIGSTOP)

    return step


step = _stopping_at(os.environ.get(VARIABLE))
"""Tells that a step is reached: the process stops here, as by SIGSTOP, if it was started to do so."""
