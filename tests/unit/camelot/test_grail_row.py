"""The row of the Grail quest: E33 to E39, and the rules of sections 5, 6 and 11 around them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.camelot import events
from engine.camelot.pieces import Card, Place
from engine.core.errors import Reason
from engine.core.table import Table
from tests.unit.camelot.situations import (
    asks,
    fillers,
    hand_of,
    knight,
    knight_of,
    names,
    play,
    refusal,
    seen,
    situation,
    state_of,
)

SLOTS = {"W": "grail", "B": "despair", "D": "desolation", "_": ""}


def with_row(row: str, **facts: Any) -> Table:
    """Gawain on the quest with two Grail cards, two knights in Camelot; the row from the Grail outward."""
    gawain = knight("gawain", "grail*2", place="grail")
    return situation(gawain, *fillers(2, "gawain"), grail=[SLOTS[slot] for slot in row], **facts)


def row_of(table: Table) -> str:
    letters = {name: letter for letter, name in SLOTS.items()}
    return "".join(letters[name] for name in names(state_of(table).grail))


@pytest.mark.rule("E33", "R5.7")
def test_e33_despair_takes_the_farthest_empty_slot() -> None:
    table = with_row("WW___BB", black_top="despair")
    play(table, "draw_black")
    assert row_of(table) == "WW__BBB"


@pytest.mark.rule("R5.7")
def test_the_first_despair_lies_at_the_far_end() -> None:
    table = with_row("_______", black_top="despair")
    play(table, "draw_black")
    assert row_of(table) == "______B"
    assert names(state_of(table).black_discards) == []


@pytest.mark.rule("R6.18")
@pytest.mark.parametrize(("before", "after"), [("_______", "W______"), ("W____BB", "WW___BB"), ("WW_WWBB", "WWWWWBB")])
def test_a_grail_card_takes_the_empty_slot_nearest_the_grail(before: str, after: str) -> None:
    table = with_row(before, phase="heroic")
    play(table, "grail")
    assert row_of(table) == after
    assert hand_of(table, 0) == ["grail"]
    assert refusal(table, 0, "grail") == (Reason.UNKNOWN_OPTION, "R6.3")


@pytest.mark.rule("E34", "R6.18")
def test_e34_on_a_full_row_a_grail_card_takes_the_nearest_black_card_away() -> None:
    table = with_row("WWWWBBB", phase="heroic")
    play(table, "grail")
    assert row_of(table) == "WWWW_BB"
    assert names(state_of(table).white_discards) == ["grail"]
    assert names(state_of(table).black_discards) == ["despair"]


@pytest.mark.rule("E35", "R5.7")
def test_e35_on_a_full_row_a_despair_takes_the_front_grail_card_away() -> None:
    table = with_row("WWWWBBB", black_top="despair")
    play(table, "draw_black")
    assert row_of(table) == "WWW_BBB"
    assert names(state_of(table).white_discards) == ["grail"]
    assert names(state_of(table).black_discards) == ["despair"]


@pytest.mark.rule("R11.5")
def test_the_slot_freed_by_an_exchange_takes_a_card_of_either_colour() -> None:
    table = with_row("WWW_BBB", black_top="despair")
    play(table, "draw_black")
    assert row_of(table) == "WWWBBBB"
    table = with_row("WWW_BBB", phase="heroic")
    play(table, "grail")
    assert row_of(table) == "WWWWBBB"


@pytest.mark.rule("E37", "R11.4", "R11.9", "R11.3")
def test_e37_a_desolation_amid_grail_cards_is_removed_and_the_next_card_wins() -> None:
    table = with_row("WWDWWWW", phase="heroic")
    play(table, "grail")
    assert row_of(table) == "WW_WWWW"
    assert names(state_of(table).black_discards) == ["desolation"]
    others = ("add_engine", "draw_white", "end_turn") * 2
    play(table, "end_turn", *others, "add_engine", "grail")
    state = state_of(table)
    assert (state.white_swords, state.black_swords) == (3, 0)
    assert state.relics[3] == 0
    assert row_of(table) == "_______"


@pytest.mark.rule("R11.3", "R8.3", "R6.11")
def test_seven_grail_cards_win_the_quest() -> None:
    table = situation(
        knight("gawain", "grail", place="grail", life=3),
        knight("kay", place="grail", life=6),
        knight("arthur", life=3),
        grail=["grail"] * 6,
        phase="heroic",
    )
    play(table, "grail", "deal_at_random")
    state = state_of(table)
    assert (state.white_swords, state.black_swords) == (3, 0)
    assert [each.life for each in state.knights] == [4, 6, 3]
    assert [len(each.hand) for each in state.knights] == [4, 3, 0]
    assert state.relics[3] == 0
    assert [each.place for each in state.knights] == [Place.CAMELOT] * 3
    assert names(state.white_discards) == ["grail"] * 7
    play(table, "sacrifice")
    assert refusal(table, 0, "move:grail") == (Reason.UNKNOWN_OPTION, "R6.11")


@pytest.mark.rule("B2", "B3", "R11.4")
def test_a_desolation_takes_the_place_of_the_front_grail_card() -> None:
    table = with_row("WWW__BB", black_top="desolation")
    play(table, "draw_black")
    assert row_of(table) == "WWD__BB"
    assert names(state_of(table).white_discards) == ["grail"]
    assert names(state_of(table).black_discards) == []


@pytest.mark.rule("E38", "B2")
def test_e38_without_grail_cards_a_desolation_takes_the_farthest_empty_slot() -> None:
    table = with_row("_____BB", black_top="desolation")
    play(table, "draw_black")
    assert row_of(table) == "____DBB"


@pytest.mark.rule("B2", "R20.10", "R5.7")
@pytest.mark.parametrize(("before", "after"), [("WWW__BB", "WWW_DBB"), ("WWWWBBB", "WWW_BBB")])
def test_by_option_a_desolation_comes_like_a_despair(before: str, after: str) -> None:
    table = with_row(before, options={"desolation_effect": "as_despair"}, black_top="desolation")
    play(table, "draw_black")
    assert row_of(table) == after


@pytest.mark.rule("B2")
def test_a_desolation_after_the_quest_is_an_engine() -> None:
    table = situation(*fillers(3), over=["grail"], black_top="desolation")
    play(table, "draw_black")
    assert state_of(table).engines == 1
    assert names(state_of(table).black_discards) == ["desolation"]


@pytest.mark.rule("E39", "R11.3", "R5.9")
def test_e39_the_seventh_black_card_loses_the_quest() -> None:
    table = with_row("_BBBBBB", black_top="despair")
    play(table, "draw_black")
    state = state_of(table)
    assert (state.white_swords, state.black_swords, state.engines) == (0, 3, 0)
    assert [each.life for each in state.knights] == [3, 4, 4]
    assert knight_of(table, 0).place is Place.CAMELOT
    assert names(state.black_discards) == ["despair"] * 7
    assert asks(table) == ((0,), "heroic_action")
    assert refusal(table, 0, "move:grail") == (Reason.UNKNOWN_OPTION, "R6.11")


@pytest.mark.rule("R11.3", "R8.1")
def test_despairs_and_desolations_lose_the_quest_together_with_nobody_there() -> None:
    table = situation(*fillers(3), grail=["", *["desolation"] * 2, *["despair"] * 4], black_top="despair")
    play(table, "draw_black")
    assert state_of(table).black_swords == 3
    assert [each.life for each in state_of(table).knights] == [4, 4, 4]


@pytest.mark.rule("R6.18", "W2")
def test_the_grail_quest_takes_grail_cards_only_and_only_from_those_there() -> None:
    table = situation(
        knight("gawain", "fight_5", place="grail"), knight("kay", "grail"), knight("arthur"), phase="heroic"
    )
    assert refusal(table, 0, "grail") == (Reason.UNKNOWN_OPTION, "W2")
    play(table, "move:camelot", "end_turn", "add_engine")
    assert refusal(table, 1, "grail") == (Reason.UNKNOWN_OPTION, "R6.12")


@pytest.mark.rule("W3")
def test_a_merlin_removes_the_despair_laid_last() -> None:
    table = situation(
        knight("gawain", "merlin"),
        *fillers(2, "gawain"),
        grail=["", "", "", "", "", "", "despair"],
        black_top="despair",
    )
    play(table, "draw_black")
    assert row_of(table) == "_____BB"
    step = play(table, "play:merlin", "remove:card:grail")
    assert row_of(table) == "______B"
    (removed,) = seen(step, events.BlackCardRemoved)
    assert (removed.slot, removed.card) == (5, Card.DESPAIR)
