"""The README says what is there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from engine.camelot.game import CAMELOT
from engine.camelot.turns import deal
from engine.catalogue import GAMES
from engine.core.chance import Chance, Seed
from engine.core.positions import read_text
from tests.unit.camelot.situations import names

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "tests" / "records"
README = (ROOT / "README.md").read_text()


def examples(text: str) -> list[str]:
    """The Python that a text shows."""
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def standalone(record: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """What the README's own check of a deal says of a record, with the standard library alone."""
    script = folder / "check.py"
    script.write_text(next(block for block in examples(README) if "record = json.load" in block))
    return subprocess.run([sys.executable, "-I", "-S", script, record], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("record", sorted(RECORDS.glob("camelot-*.json")), ids=lambda file: file.stem)
def test_anybody_can_check_a_deal(record: Path, tmp_path: Path) -> None:
    kept = json.loads(record.read_text())
    seed = Seed(bytes.fromhex(kept["secret"]), tuple(map(bytes.fromhex, kept["contributions"])))
    state = deal(kept["seats"], CAMELOT.parse_options(kept["options"]), Chance(seed))

    checked = standalone(record, tmp_path)

    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.splitlines() == [
        *(
            f"seat {knight.seat}: {knight.coat.name.lower()} {'traitor' if knight.traitor else 'loyal'} "
            + " ".join(sorted(names(knight.hand)))
            for knight in state.knights
        ),
        "white pile: " + " ".join(names(state.white_pile)[::-1]),
        "black pile: " + " ".join(names(state.black_pile)[::-1]),
    ]


def test_another_secret_is_noticed_by_anybody(tmp_path: Path) -> None:
    kept = json.loads((RECORDS / "camelot-v2-1.json").read_text())
    (tmp_path / "record.json").write_text(json.dumps(kept | {"secret": "00" * 32}))
    checked = standalone(tmp_path / "record.json", tmp_path)
    assert (checked.returncode, checked.stdout) == (1, "")
    assert checked.stderr == "another secret was committed to\n"


def test_the_position_that_is_shown_can_be_played() -> None:
    shown = re.search(r"```json\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    table = read_text(GAMES, shown[1])
    step = table.answer(0, table.decision, ["grail"])
    assert [told.public.rule for told in step.told] == ["R6.18", "R11.9"]
    assert table.explain(0, "grail").rule == "R6.3"


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
