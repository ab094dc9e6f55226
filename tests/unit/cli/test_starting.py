"""The `roundtable` command before it knows what it is to do."""

import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
# Loads its modules for ever.
LOADING = """
import sys, time
from importlib.abc import MetaPathFinder

class Slow(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "services.cli.main":
            print("loading", flush=True)
            time.sleep(60)

sys.meta_path.insert(0, Slow())
from services.cli.__main__ import main
main()
"""


def test_ctrl_c_while_modules_load_ends_it_without_a_word() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LOADING], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as loading:
        assert loading.stdout is not None
        assert loading.stdout.readline() == b"loading\n"
        loading.send_signal(signal.SIGINT)
        _, told = loading.communicate(timeout=10)

    assert (loading.returncode, told) == (-signal.SIGINT, b"")
