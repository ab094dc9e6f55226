"""Steps at which a test stops a process."""

import os
import signal
import subprocess
import sys

from services.runtime import failpoints
from services.runtime.settings import ENVIRONMENT_PREFIX, Settings

PROGRAM = """
from services.runtime import failpoints
for step in ("loaded", "resolved", "resolved"):
    failpoints.step(step)
"""


def test_without_the_variable_nothing_stops() -> None:
    failpoints.step("resolved")


def test_the_named_step_stops_the_process_once() -> None:
    environment = {**os.environ, failpoints.VARIABLE: "resolved"}
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment)
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    process.send_signal(signal.SIGCONT)
    assert process.wait(10) == 0


def test_it_is_no_setting() -> None:
    assert failpoints.VARIABLE.removeprefix(ENVIRONMENT_PREFIX).lower() not in Settings.model_fields
