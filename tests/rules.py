"""The numbered rules and edge cases of each game, and which of them no test shows: `python -m tests.rules`.

A test names what it shows with `@pytest.mark.rule("R4.2", "E1")` in the folder of its game, `"camelot R4.2"` elsewhere.
Rules are numbered by the game itself, edge cases by the `edge_cases.txt` beside the game's tests.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from engine.catalogue import GAMES

_TESTS = Path(__file__).parent


class _Shown:
    """A plugin that reads the marks of the tests that are there."""

    def __init__(self) -> None:
        self._games = {game.id for game in GAMES}
        self.tests: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """By game: how many tests show a number."""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            if item.get_closest_marker("skip") is not None:
                continue
            for mark in item.iter_markers("rule"):
                for named in mark.args:
                    game, _, number = named.partition(" ")
                    if game in self._games:
                        self.tests[game][number] += 1
                    else:
                        self.tests[item.path.parent.name][named] += 1


def edge_cases(game: str) -> list[str]:
    """The numbers of a game's edge cases, in order."""
    return (_TESTS / "unit" / game / "edge_cases.txt").read_text(encoding="utf-8").split()


def main() -> int:
    """Prints what is missing, and a line for each game; 1 if something is missing or a test names an unknown number."""
    shown = _Shown()
    status = pytest.main(["--collect-only", "-p", "no:terminal", str(_TESTS)], plugins=[shown])
    if status:
        print("rules: the tests cannot be collected", file=sys.stderr)
        return int(status)
    console, well = Console(highlight=False), True
    for game in GAMES:
        tests = shown.tests[game.id]
        cases = edge_cases(game.id)
        informative = [rule for rule in game.rules.values() if rule.informative]
        needed = [(rule.number, rule.title) for rule in game.rules.values() if not rule.informative]
        missing = [each for each in [*needed, *((case, "edge case") for case in cases)] if not tests[each[0]]]
        unknown = sorted(set(tests) - set(game.rules) - set(cases))
        if informative:
            table = Table("informative", "title", "why no test can show it", box=None)
            for rule in informative:
                table.add_row(rule.number, rule.title, rule.informative)
            console.print(table, "")
        for number, title in missing:
            console.print(f"{game.id}: {number} has no test: {title}", soft_wrap=True)
        for number in unknown:
            console.print(f"{game.id}: a test names {number}, which is no number of this game", soft_wrap=True)
        without = sum(number not in cases for number, _ in missing)
        console.print(
            f"{game.id}: {len(game.rules)} rules, {without} without a test; "
            f"{len(cases)} edge cases, {len(missing) - without} without a test",
            soft_wrap=True,
        )
        well = well and not missing and not unknown
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
