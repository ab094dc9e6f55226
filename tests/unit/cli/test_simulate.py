"""`roundtable simulate`: what programs get, and that bad arguments are told in one line."""

import json
from typing import Any

import pytest

from services.cli.main import main

ENDINGS = {"siege", "black_swords", "all_dead", "twelfth_sword_won", "twelfth_sword_lost"}


def simulated(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    status = main(["simulate", "camelot", *arguments, "--json"])
    out, err = capsys.readouterr()
    assert (status, err) == (0, "")
    report: dict[str, Any] = json.loads(out)
    return report


def test_programs_get_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    report = simulated(capsys, "--players", "5", "--games", "6", "--seed", "1")

    assert (report["game"], report["players"], report["games"], report["finished"]) == ("camelot", 5, 6, 6)
    assert report["decisions"] > 6
    assert report["decisions_per_s"] > 0
    assert report["games_per_s"] > 0
    assert set(report["outcomes"]) == ENDINGS, "endings that no game had are counted too"
    assert sum(report["outcomes"].values()) == 6


def test_the_seed_decides_everything(capsys: pytest.CaptureFixture[str]) -> None:
    first, again, other = (
        simulated(capsys, "--players", "4", "--games", "5", "--seed", seed) for seed in ("7", "7", "8")
    )

    assert (again["outcomes"], again["decisions"]) == (first["outcomes"], first["decisions"])
    assert other["decisions"] != first["decisions"]


def test_options_reach_the_game(capsys: pytest.CaptureFixture[str]) -> None:
    standard = simulated(capsys, "--players", "3", "--games", "5")
    without = simulated(capsys, "--players", "3", "--games", "5", "--option", "traitor_in_deck=none")

    assert without["decisions"] != standard["decisions"]


def test_people_get_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "camelot", "--players", "3", "--games", "2"]) == 0

    out = capsys.readouterr().out
    assert "twelfth sword won" in out
    assert "decisions" in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["simulate"], "Missing argument"),
        (["simulate", "chess"], "no such game; there is camelot"),
        (["simulate", "camelot", "--players", "2"], "--players: Shadows over Camelot takes 3 to 7 seats"),
        (["simulate", "camelot", "--players", "8"], "--players: Shadows over Camelot takes 3 to 7 seats"),
        (["simulate", "camelot", "--players", "five"], "'--players'"),
        (["simulate", "camelot", "--games", "0"], "'--games'"),
        (["simulate", "camelot", "--seed", "-1"], "'--seed'"),
        (["simulate", "camelot", "--option", "traitor_in_deck"], "'traitor_in_deck' is not NAME=VALUE"),
        (["simulate", "camelot", "--option", "luck=good"], "--option luck: Shadows over Camelot has no such option"),
        (["simulate", "camelot", "--option", "traitor_in_deck=two"], "--option traitor_in_deck: the option takes"),
        (["simulate", "camelot", "--fast"], "No such option: --fast"),
        (["demo", "--games", "0"], "'--games'"),
        (["demo", "--seed", "-1"], "'--seed'"),
        (["play"], "No such command 'play'"),
        ([], "Missing command"),
    ],
)
def test_bad_arguments_are_told_in_one_line(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(arguments)

    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert err.startswith("roundtable: ")
    assert complaint in err
    assert err.count("\n") == 1
