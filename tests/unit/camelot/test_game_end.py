"""The end of the game and its winners: E98 to E106, and the rules of section 16."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from engine.camelot import camelot, events, invariants, turns
from engine.camelot.pieces import FIGURES
from engine.core.games import Outcome
from engine.core.table import Step, Table
from tests.unit.camelot.situations import (
    asks,
    fillers,
    knight,
    knight_of,
    laid,
    play,
    seen,
    situation,
    state_of,
)


def win_a_war(*others: dict[str, Any], white: int, black: int, traitor: bool = False, **facts: Any) -> Table:
    """Seat 0 is one card from winning the Pict war, and one white sword with it."""
    first = knight("gawain", "fight_5", place="pict_war", traitor=traitor)
    return situation(
        first,
        *(others or fillers(3, "gawain")),
        phase="heroic",
        pict_war={"run": 4},
        white_swords=white,
        black_swords=black,
        **facts,
    )


def win(table: Table) -> Step:
    return play(table, "fight:pict_war:fight_5")


def swords(table: Table) -> tuple[int, int]:
    return state_of(table).white_swords, state_of(table).black_swords


# Twelve swords


@pytest.mark.rule("E98", "R16.3", "R16.4")
def test_e98_a_hidden_traitor_turns_two_swords_and_evil_wins() -> None:
    table = win_a_war(knight("kay", traitor=True), *fillers(2, "gawain", "kay"), white=6, black=5)
    step = win(table)
    assert seen(step, events.SwordsTurned) == [events.SwordsTurned(2, rule="R16.3")]
    assert swords(table) == (5, 7)
    assert table.outcome == Outcome("twelfth_sword_lost", "R16.4", (1,))


@pytest.mark.rule("E99", "R16.4", "R16.8")
def test_e99_a_tie_is_evils() -> None:
    table = win_a_war(knight("kay", traitor=True), *fillers(2, "gawain", "kay"), white=7, black=4)
    win(table)
    assert swords(table) == (6, 6)
    assert table.outcome == Outcome("twelfth_sword_lost", "R16.4", (1,))


@pytest.mark.rule("R16.3", "R16.4")
def test_nine_to_three_is_won_in_spite_of_the_traitor() -> None:
    table = win_a_war(knight("kay", traitor=True), *fillers(2, "gawain", "kay"), white=8, black=3)
    win(table)
    assert swords(table) == (7, 5)
    assert table.outcome == Outcome("twelfth_sword_won", "R16.4", (0, 2, 3))


@pytest.mark.rule("E101", "R16.4")
def test_e101_without_a_traitor_the_majority_wins() -> None:
    table = win_a_war(white=7, black=4)
    step = win(table)
    assert seen(step, events.SwordsTurned) == []
    assert swords(table) == (8, 4)
    assert table.outcome == Outcome("twelfth_sword_won", "R16.4", (0, 1, 2, 3))


@pytest.mark.rule("E102", "R16.3")
def test_e102_a_single_white_sword_is_the_only_one_turned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only with other figures: as the box is, eleven black swords have ended the game before."""
    lenient = msgspec.structs.replace(FIGURES, black_swords_defeat=16)
    for module in (camelot, invariants, turns):
        monkeypatch.setattr(module, "FIGURES", lenient)
    table = win_a_war(knight("kay", traitor=True), *fillers(2, "gawain", "kay"), white=0, black=11)
    step = win(table)
    assert seen(step, events.SwordsTurned) == [events.SwordsTurned(1, rule="R16.3")]
    assert swords(table) == (0, 12)
    assert table.outcome == Outcome("twelfth_sword_lost", "R16.4", (1,))


@pytest.mark.rule("R16.2")
def test_eleven_swords_do_not_end_the_game() -> None:
    table = win_a_war(white=6, black=4)
    win(table)
    assert table.outcome is None
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("R16.2")
def test_more_than_twelve_may_lie_when_several_come_at_once() -> None:
    table = situation(
        knight("gawain", "grail", place="grail"),
        *fillers(3, "gawain"),
        phase="heroic",
        grail=["grail"] * 6,
        white_swords=7,
        black_swords=4,
    )
    play(table, "grail")
    assert swords(table) == (10, 4)
    assert table.outcome == Outcome("twelfth_sword_won", "R16.4", (0, 1, 2, 3))


@pytest.mark.rule("E105", "R16.2")
def test_e105_a_twelfth_sword_in_the_evil_phase_leaves_no_heroic_phase() -> None:
    table = situation(
        *fillers(3),
        black_top="black_knight_1",
        black_knight={"black": laid("black_knight_1*3")},
        white_swords=8,
        black_swords=3,
    )
    play(table, "draw_black", "face_up")
    assert swords(table) == (8, 4)
    assert table.outcome == Outcome("twelfth_sword_won", "R16.4", (0, 1, 2))
    assert table.asked == ()


# Immediate defeats


@pytest.mark.rule("E103", "R16.5", "R16.1")
def test_e103_a_seventh_black_sword_goes_before_the_twelfth() -> None:
    table = situation(
        knight("gawain"),
        knight("kay", traitor=True),
        *fillers(2, "gawain", "kay"),
        over=["lancelot"],
        black_top="lancelot_dragon_1_5",
        dragon={"black": laid("lancelot_dragon_1_5*3 lancelot_dragon_3_7")},
        white_swords=5,
        black_swords=5,
    )
    step = play(table, "draw_black", "face_up")
    assert swords(table) == (5, 7)
    assert seen(step, events.SwordsTurned) == []
    assert table.outcome == Outcome("black_swords", "R16.1", (1,))


@pytest.mark.rule("E106", "R16.5", "R11.8")
def test_e106_a_twelfth_engine_goes_before_the_twelfth_sword() -> None:
    table = situation(
        *fillers(3),
        black_top="saxons",
        saxon_war={"warriors": 3},
        white_swords=8,
        black_swords=3,
        engines=10,
    )
    play(table, "draw_black")
    assert swords(table) == (8, 4)
    assert state_of(table).engines == 12
    assert table.outcome == Outcome("siege", "R16.1", ())


@pytest.mark.rule("R16.1", "R13.10")
def test_the_last_loyal_death_is_a_defeat() -> None:
    table = situation(
        knight("gawain", life=1),
        knight("kay", traitor=True),
        knight("arthur", life=0, standing="dead", place="nowhere"),
    )
    play(table, "lose_life")
    assert table.outcome == Outcome("all_dead", "R16.1", (1,))


@pytest.mark.rule("R16.1")
def test_a_loyal_knight_left_alive_is_no_defeat() -> None:
    table = situation(knight("gawain", life=1), knight("kay", traitor=True), knight("arthur"))
    play(table, "lose_life")
    assert table.outcome is None
    assert table.asked == (1,)


@pytest.mark.rule("R16.6")
@pytest.mark.parametrize(("triggers", "ending"), [("false", "twelfth_sword_won"), ("true", "black_swords")])
def test_swords_turned_at_the_end_make_no_defeat_unless_an_option_says_so(triggers: str, ending: str) -> None:
    table = situation(
        knight("gawain", "grail", place="grail"),
        knight("kay", traitor=True),
        *fillers(2, "gawain", "kay"),
        phase="heroic",
        grail=["grail"] * 6,
        heroism="grail",
        white_swords=6,
        black_swords=5,
        options={"end_flips_trigger_seven_black": triggers},
    )
    play(table, "grail")
    assert swords(table) == (8, 7)
    assert table.outcome is not None
    assert table.outcome.ending == ending


# Winners


@pytest.mark.rule("R16.7")
def test_a_defeat_without_a_traitor_is_won_by_nobody() -> None:
    table = situation(*fillers(3), engines=11)
    play(table, "add_engine")
    assert table.outcome == Outcome("siege", "R16.1", ())


@pytest.mark.rule("R16.7", "R13.9")
@pytest.mark.parametrize(("engines", "white", "winners"), [(11, 0, (1,)), (0, 11, (0, 2))])
def test_the_dead_win_and_lose_with_their_side(engines: int, white: int, winners: tuple[int, ...]) -> None:
    gone: dict[str, Any] = {"life": 0, "standing": "dead", "place": "nowhere"}
    table = situation(
        knight("gawain", "fight_5", place="pict_war"),
        knight("kay", traitor=True, **gone),
        knight("arthur", **gone),
        phase="evil" if engines else "heroic",
        pict_war={"run": 4},
        engines=engines,
        white_swords=white,
    )
    step = play(table, "add_engine" if engines else "fight:pict_war:fight_5")
    assert seen(step, events.SwordsTurned) == []
    assert table.outcome is not None
    assert table.outcome.winners == winners


@pytest.mark.rule("R16.8")
def test_a_tie_with_the_die_is_lost() -> None:
    table = situation(knight("gawain", "fight_3"), *fillers(2, "gawain"), phase="heroic", engines=2, rolls=[3])
    play(table, "fight_engine", "card:fight_3")
    assert state_of(table).engines == 2
    assert knight_of(table, 0).life == 3


@pytest.mark.rule("R16.9")
def test_all_loyalty_is_shown_at_the_end() -> None:
    table = situation(knight("gawain"), knight("kay", traitor=True), *fillers(2, "gawain", "kay"), engines=11)
    step = play(table, "add_engine")
    (ended,) = seen(step, events.GameEnded)
    assert (ended.traitor, ended.winners) == (1, (1,))
    for viewer in (0, 1, None):
        assert [each.traitor for each in table.view(viewer).game.knights] == [False, True, False, False]


@pytest.mark.rule("R16.10", "R16.3")
def test_a_traitor_who_has_fallen_in_the_last_action_still_turns_swords() -> None:
    table = situation(
        knight("gawain", "fight_5", place="pict_war", life=1, traitor=True),
        *fillers(3, "gawain"),
        phase="heroic",
        turn={"actions": 1, "types": ["special"]},
        pict_war={"run": 4},
        white_swords=7,
        black_swords=4,
    )
    play(table, "sacrifice", "fight:pict_war:fight_5")
    assert knight_of(table, 0).life == 0
    assert swords(table) == (6, 6)
    assert table.outcome == Outcome("twelfth_sword_lost", "R16.4", (0,))
