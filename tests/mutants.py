"""How many small faults put into the rules the tests notice: `python -m tests.mutants GAME [--sample 500] [--seed 1]`.

A fixed random sample of all the mutants that mutmut makes of `engine/GAME` is run against the game's own tests and its
playthroughs. Everything happens in the folder `mutants/`, which the next run goes on from.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

_MUTMUT = str(Path(sys.executable).with_name("mutmut"))
_NOTICED = frozenset({"killed", "timeout", "suspicious", "segfault"})
_LEAST_SHARE = 0.8


def mutmut(*arguments: str) -> str:
    """What a mutmut command prints; its progress is of no use where nobody watches."""
    done = subprocess.run([_MUTMUT, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"mutants: mutmut failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def statuses() -> dict[str, str]:
    """Each mutant's name and what came of it, in the order of the code."""
    lines = (line.split(": ") for line in mutmut("results", "--all", "true").splitlines() if ": " in line)
    return {name.strip(): status.strip() for name, status in lines}


def main() -> int:
    parser = argparse.ArgumentParser(prog="mutants", description="Puts small faults into the rules and runs the tests.")
    parser.add_argument("game", choices=["camelot"])
    parser.add_argument("--sample", type=int, default=500, help="how many mutants are tried (500)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    asked = parser.parse_args()
    console = Console(highlight=False)
    console.print("making the mutants and finding each one's tests ...")
    mutmut("run", f"engine.{asked.game}.rulebook.*", f"engine.{asked.game}.life.*__mutmut_1")
    everyone = list(statuses())
    chosen = random.Random(asked.seed).sample(everyone, min(asked.sample, len(everyone)))
    console.print(f"trying {len(chosen)} of {len(everyone)} mutants ...")
    mutmut("run", *chosen)
    found = statuses()
    came = Counter(found[name] for name in chosen)
    for name in sorted(name for name in chosen if found[name] not in _NOTICED):
        changed = [line for line in mutmut("show", name).splitlines() if line[:2] in ("- ", "+ ")]
        console.print(f"{name}: {found[name]}", *changed, sep="\n  ", markup=False, soft_wrap=True)
    table = Table("came to", "mutants", box=None)
    for status, number in came.most_common():
        table.add_row(status, str(number))
    console.print(table)
    share = sum(came[status] for status in _NOTICED) / len(chosen)
    console.print(f"{asked.game}: {share:.1%} of {len(chosen)} mutants noticed; at least {_LEAST_SHARE:.0%} must be")
    return 0 if share >= _LEAST_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
