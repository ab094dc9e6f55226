"""The README says what is there."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

from engine.camelot.game import CAMELOT

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def examples(text: str) -> list[str]:
    """The Python that a text shows."""
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_names_every_dependency_with_a_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups, extras = project["dependency-groups"], project["project"]["optional-dependencies"]
    required = [*project["project"]["dependencies"], *extras["embedded"], *chain.from_iterable(groups.values())]
    names = {re.split(r"[\[<>=;]", line)[0].strip() for line in required}
    table = README[README.index("## Dependencies") : README.index("## Names and rights")]
    assert {name for name in names if not name.startswith("types-") and name not in table} == set()


def test_gives_the_values_of_variants_as_they_are_on_offer() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ((?:`\w+`,? ?)+) \|", README, re.MULTILINE)
    offered = {option.id: (option.default, *option.values) for option in CAMELOT.options}
    assert {"traitor_in_deck", "squires", "blind_loyalty_3p"} <= {name for name, _ in rows}
    for name, values in rows:
        shown = re.findall(r"\w+", values)
        assert shown == list(dict.fromkeys(offered[name])), name


def test_names_only_make_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`?make ([a-z]+)\b", README)) - {"and"} <= targets


def test_shows_the_rule_as_it_is_written() -> None:
    shown = next(block for block in examples(README) if block.startswith("def progression_of_evil"))
    source = (ROOT / "engine/camelot/evil.py").read_text()
    assert [line for line in shown.splitlines() if line not in source.splitlines()] == []
