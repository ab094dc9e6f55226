"""Why a choice is not there: for every seat, asked or not."""

from __future__ import annotations

import pytest

from engine.camelot.explaining import CHOICES
from engine.camelot.game import CAMELOT
from engine.core.errors import Reason, Refusal
from engine.core.table import Table
from tests.unit.camelot.situations import fillers, knight, offered, pick, play, situation


def why(table: Table, seat: int, candidate: str) -> str:
    """Number of the rule that keeps a candidate of the game from a seat."""
    found = table.explain(seat, candidate)
    assert found.known
    assert not found.offered
    return found.rule


def heroic() -> Table:
    """Gawain acts on the Grail quest."""
    return situation(
        knight("gawain", "merlin fight_2", place="grail"), *fillers(2, "gawain"), phase="heroic", engines=3
    )


@pytest.mark.rule("R6.9", "R6.11", "R6.20", "R6.27")
@pytest.mark.parametrize(
    ("candidate", "rule"),
    [
        ("move:grail", "R6.27"),
        ("move:dragon", "R6.11"),
        ("play:fate", "R6.20"),
        ("grail", "W2"),
        ("draw_white", "R6.12"),
        ("accuse:1", "R14A.1"),
        ("sacrifice", "R6.2"),
        ("end_turn", "R6.2"),
    ],
)
def test_a_choice_of_the_open_question_is_explained_by_its_first_unmet_condition(candidate: str, rule: str) -> None:
    assert why(heroic(), 0, candidate) == rule


@pytest.mark.rule("R3.3")
def test_who_has_not_the_turn_is_told_so() -> None:
    table = heroic()
    assert why(table, 1, "move:grail") == "R3.3"
    assert why(table, 1, "draw_black") == "R3.3"


@pytest.mark.rule("R3.1")
def test_a_choice_of_the_other_phase_is_told_so() -> None:
    assert why(heroic(), 0, "draw_black") == "R3.1"
    evil = situation(knight("gawain"), *fillers(2, "gawain"))
    assert why(evil, 0, "move:grail") == "R3.1"


@pytest.mark.rule("R3.4")
def test_the_dead_have_no_turn() -> None:
    dead = knight("tristan", standing="dead", life=0, place="nowhere")
    table = situation(knight("gawain"), *fillers(2, "gawain", "tristan"), dead)
    assert why(table, 3, "add_engine") == "R3.4"


@pytest.mark.rule("R15.2")
@pytest.mark.rule("R20.1", "R20.2")
def test_who_is_not_at_the_table_has_no_turn() -> None:
    table = situation(*fillers(4))
    table.join()
    table.leave(2)
    assert table.explain(4, "draw_black").rule == "R20.1"
    assert table.explain(4, "move:grail").rule == "R20.1"
    assert table.explain(2, "draw_black").rule == "R20.2"


def test_the_unmasked_traitor_makes_no_heroic_actions() -> None:
    traitor = knight("arthur", traitor=True, shown=True, standing="unmasked", life=0, place="nowhere")
    table = situation(knight("gawain", "fight_1"), *fillers(2, "gawain", "arthur"), traitor, active=3, phase="traitor")
    assert offered(table, 3) == ["taunt:0"]
    assert why(table, 3, "move:grail") == "R15.2"
    assert why(table, 3, "lose_life") == "R15.2"
    assert why(table, 3, "taunt:1") == "R15.2"
    assert why(table, 3, "add_engine") == "R15.2"


def test_a_choice_within_an_action_is_explained_by_the_rule_that_has_it() -> None:
    table = heroic()
    assert why(table, 0, "remove:engine") == "W3"
    play(table, "play:merlin")
    assert offered(table, 0) == ["remove:engine"]
    assert why(table, 0, "remove:warrior:pict_war") == "W3"
    assert why(table, 0, "move:camelot") == "R6.7"


@pytest.mark.rule("R7.4")
def test_a_card_that_is_not_in_the_hand_is_explained_by_the_question() -> None:
    table = situation(
        knight("gawain", "merlin*2"), *fillers(2, "gawain"), knight("kay", "merlin fate"), black_top="vivien"
    )
    pick(table, 0, "draw_black")
    assert offered(table, 3) == ["pass", "pledge:1"]
    assert why(table, 3, "pledge:3") == "R7.4"


def test_what_the_game_does_not_have_is_not_explained() -> None:
    table = heroic()
    assert not table.explain(0, "fly:avalon").known
    with pytest.raises(Refusal) as refused:
        table.explain(1, "fly:avalon")
    assert refused.value.reason is Reason.NOT_ASKED


def test_every_choice_is_explained_to_every_seat() -> None:
    table = heroic()
    for seat in range(3):
        for candidate in CHOICES:
            if not candidate.startswith("card:"):
                found = table.explain(seat, candidate)
                assert found.known
                assert found.rule in CAMELOT.rules
