"""The common procedure by which every quest ends, step by step (section 8), and what no knight may do."""

from __future__ import annotations

from typing import Any

import pytest

from engine.camelot import events
from engine.camelot.pieces import QUESTS, Card, Place, Relic
from engine.camelot.state import NOBODY
from engine.core.errors import Reason
from engine.core.table import Table
from tests.unit.camelot.situations import (
    asks,
    fillers,
    game_of,
    hand_of,
    kinds,
    knight,
    knight_of,
    laid,
    names,
    offered,
    pick,
    play,
    refusal,
    seen,
    situation,
    state_of,
)

WON = {
    "black_knight": ("fight_4", "fight:black_knight:fight_4:1", {"white": [["fight_3"] * 2, ["fight_4"]]}),
    "lancelot": ("fight_4", "fight:lancelot:fight_4:1", {"white": [["fight_3"] * 3, ["fight_4"]]}),
    "dragon": ("fight_4", "fight:dragon:fight_4:2", {"white": [["fight_3"] * 3, ["fight_5"] * 3, ["fight_4"] * 2]}),
    "excalibur": ("grail", "excalibur:grail", 9),
    "grail": ("grail", "grail", ["grail"] * 6),
    "pict_war": ("fight_5", "fight:pict_war:fight_5", {"run": 4}),
    "saxon_war": ("fight_5", "fight:saxon_war:fight_5", {"run": 4}),
}
"""By quest: the card that seat 0 needs, how he plays it, and how the quest stands before."""

LOST = {
    "black_knight": ("black_knight_1", {"black": laid("black_knight_3*3")}),
    "lancelot": ("lancelot_dragon_1_5", {"black": laid("lancelot_dragon_1_5*3 lancelot_dragon_3_7")}),
    "dragon": ("lancelot_dragon_1_5", {"black": laid("lancelot_dragon_1_5*3 lancelot_dragon_3_7")}),
    "excalibur": ("black_excalibur", 1),
    "grail": ("despair", ["", *["despair"] * 6]),
    "pict_war": ("picts", {"run": 2, "warriors": 3}),
    "saxon_war": ("saxons", {"run": 2, "warriors": 3}),
}
"""By quest: the black card on top of the pile, and how the quest stands before."""

REWARDS = {
    "black_knight": (1, 1, 3, None),
    "lancelot": (1, 1, 4, Relic.LANCELOTS_ARMOR),
    "dragon": (2, 2, 7, None),
    "excalibur": (2, 1, 7, Relic.EXCALIBUR),
    "grail": (3, 1, 7, Relic.HOLY_GRAIL),
    "pict_war": (1, 1, 4, None),
    "saxon_war": (1, 1, 4, None),
}
"""White swords, life, white cards and relic (R8.3)."""

PENALTIES = {
    "black_knight": (1, 1, 0),
    "lancelot": (1, 1, 0),
    "dragon": (2, 2, 0),
    "excalibur": (2, 1, 0),
    "grail": (3, 1, 0),
    "pict_war": (1, 1, 2),
    "saxon_war": (1, 1, 2),
}
"""Black swords, life lost and engines (R8.3)."""

COMBATS = ("black_knight", "lancelot", "dragon")


def over_before(quest: str) -> list[str]:
    return ["lancelot"] if quest == "dragon" else []


def about_to_win(quest: str, **facts: Any) -> Table:
    card, _, stand = WON[quest]
    return situation(
        knight("gawain", card, place=quest),
        *fillers(2, "gawain"),
        phase="heroic",
        over=over_before(quest),
        **{quest: stand, **facts},
    )


def about_to_lose(quest: str, *there: dict[str, Any], **facts: Any) -> Table:
    card, stand = LOST[quest]
    return situation(
        *(there or (knight("gawain"), knight("kay", place=quest), knight("arthur"))),
        black_top=card,
        over=over_before(quest),
        **{quest: stand, **facts},
    )


def lose(table: Table, quest: str) -> Any:
    return play(table, "draw_black", *["face_up"] * (quest in COMBATS))


@pytest.mark.rule("R8.3", "R8 step 2", "R8 step 3", "R8 step 4", "R8 step 5", "R8 step 7")
@pytest.mark.parametrize("quest", WON)
def test_a_won_quest_pays_what_the_table_says(quest: str) -> None:
    swords, life, cards, relic = REWARDS[quest]
    table = about_to_win(quest)
    step = play(table, WON[quest][1])
    state = state_of(table)
    assert (state.white_swords, state.black_swords, state.engines) == (swords, 0, 0)
    assert knight_of(table, 0).life == 4 + life
    assert len(hand_of(table, 0)) == cards
    owned = {each for each in Relic if state.relics[each] == 0}
    assert owned == ({relic} if relic else set())
    assert {knight_of(table, seat).place for seat in range(3)} == {Place.CAMELOT}
    assert [knight_of(table, seat).life for seat in (1, 2)] == [4, 4]
    assert seen(step, events.QuestEnded) == [events.QuestEnded(Place[quest.upper()], True, rule="R8.3")]


@pytest.mark.rule("R8.3", "R8 step 2", "R8 step 4", "R8 step 5", "R8 step 6", "R8 step 7")
@pytest.mark.parametrize("quest", LOST)
def test_a_lost_quest_costs_what_the_table_says(quest: str) -> None:
    swords, life, engines = PENALTIES[quest]
    table = about_to_lose(quest)
    step = lose(table, quest)
    state = state_of(table)
    assert (state.white_swords, state.black_swords, state.engines) == (0, swords, engines)
    assert [knight_of(table, seat).life for seat in range(3)] == [4, 4 - life, 4]
    assert [len(hand_of(table, seat)) for seat in range(3)] == [0, 0, 0]
    assert knight_of(table, 1).place is Place.CAMELOT
    relic = REWARDS[quest][3]
    lost = [(event.relic, event.seat) for event in seen(step, events.RelicLost)]
    assert lost == ([(relic, NOBODY)] if relic else [])


@pytest.mark.rule("R8 step 8", "R8 step 9", "R11.6")
@pytest.mark.parametrize("quest", WON)
def test_a_won_quest_is_cleared_and_restarts_flips_or_leaves(quest: str) -> None:
    table = about_to_win(quest)
    play(table, WON[quest][1])
    assert_cleared(table, quest)


@pytest.mark.rule("R8 step 8", "R8 step 9", "R11.6")
@pytest.mark.parametrize("quest", LOST)
def test_a_lost_quest_is_cleared_and_restarts_flips_or_leaves(quest: str) -> None:
    table = about_to_lose(quest)
    lose(table, quest)
    assert_cleared(table, quest)


def assert_cleared(table: Table, quest: str) -> None:
    """The board is as at its first day, or gone; every white and black card is in a pile, a hand or a discard."""
    state, view = state_of(table), table.view(None).game
    for combat in view.combats:
        assert all(not group for group in combat.groups)
        assert combat.black == ()
    assert set(names(state.grail)) == {""}
    assert [(war.run, war.warriors) for war in view.wars] == [(0, 0), (0, 0)]
    gone = {*over_before(quest)} | ({quest} if quest in ("lancelot", "dragon", "excalibur", "grail") else set())
    destinations = {place.name.lower() for place in QUESTS if game_of(table).in_play(place)}
    expected = {place.name.lower() for place in QUESTS} - gone - ({"dragon"} if "lancelot" not in gone else set())
    assert destinations == expected
    hands = sum(len(knight.hand) for knight in state.knights)
    assert len(state.white_pile) + len(state.white_discards) + hands == 84
    assert len(state.black_pile) + len(state.black_discards) == 76


@pytest.mark.rule("R8 step 1", "R8 step 2", "R8 step 3", "R8 step 4", "R8 step 5", "R8 step 7", "R8 step 8")
def test_the_steps_of_a_victory_come_in_their_order() -> None:
    step = play(about_to_win("lancelot"), WON["lancelot"][1])
    assert kinds(step) == [
        "white_card_played",
        "black_cards_revealed",
        "fight_decided",
        "quest_ended",
        "life_changed",
        "white_cards_drawn",
        "relic_won",
        "swords_laid",
        "knight_moved",
    ]


@pytest.mark.rule("R8 step 1", "R8 step 2", "R8 step 5", "R8 step 6", "R8 step 7")
def test_the_steps_of_a_lost_war_come_in_their_order() -> None:
    step = lose(about_to_lose("pict_war"), "pict_war")
    assert kinds(step)[-6:] == [
        "warrior_added",
        "quest_ended",
        "life_changed",
        "swords_laid",
        "engines_added",
        "knight_moved",
    ]


@pytest.mark.rule("R8 step 3", "R8.1")
def test_with_nobody_there_a_won_quest_gives_no_cards() -> None:
    table = situation(knight("gawain", "lady_of_the_lake"), *fillers(2, "gawain"), phase="heroic", excalibur=9)
    play(table, "play:lady_of_the_lake")
    assert [len(hand_of(table, seat)) for seat in range(3)] == [0, 0, 0]
    assert state_of(table).white_swords == 2


@pytest.mark.rule("R8 step 3")
def test_the_knights_there_share_as_proposed_if_all_agree() -> None:
    table = situation(
        knight("gawain", "fight_5", place="pict_war"),
        knight("kay", place="pict_war"),
        knight("arthur", place="pict_war"),
        phase="heroic",
        pict_war={"run": 4},
        white_top="fight_1 fight_2 fight_3 fight_4",
    )
    step = play(table, "fight:pict_war:fight_5")
    pooled = seen(step, events.CardsPooled, 1)
    assert pooled[0].cards == (Card.FIGHT_1, Card.FIGHT_2, Card.FIGHT_3, Card.FIGHT_4)
    assert seen(step, events.CardsPooled)[0].cards == ()
    play(table, "give:1", "give:1", "give:2", "give:1")
    assert asks(table) == ((1, 2), "accept_share")
    pick(table, 2, "accept")
    pick(table, 1, "accept")
    assert [hand_of(table, seat) for seat in range(3)] == [[], ["fight_1", "fight_2", "fight_4"], ["fight_3"]]


@pytest.mark.rule("R8 step 3")
def test_one_refusal_has_the_cards_dealt_from_the_knight_who_ended_the_quest() -> None:
    table = situation(
        knight("kay", place="pict_war"),
        knight("gawain", "fight_5", place="pict_war"),
        knight("arthur", place="pict_war"),
        active=1,
        phase="heroic",
        pict_war={"run": 4},
    )
    play(table, "fight:pict_war:fight_5", "give:0", "give:0", "give:0", "give:0")
    step = pick(table, 2, "decline")
    assert seen(step, events.ProposalAnswered) == [events.ProposalAnswered(False, (2,), rule="R8 step 3")]
    assert [len(hand_of(table, seat)) for seat in range(3)] == [1, 2, 1]


@pytest.mark.rule("R8 step 3")
def test_without_the_ender_the_next_knight_clockwise_proposes() -> None:
    table = situation(
        knight("gawain", "lady_of_the_lake"),
        knight("kay"),
        knight("arthur", place="excalibur"),
        knight("tristan", place="excalibur"),
        phase="heroic",
        excalibur=9,
    )
    play(table, "play:lady_of_the_lake")
    assert asks(table) == ((2,), "propose_share")
    play(table, "deal_at_random")
    assert [len(hand_of(table, seat)) for seat in range(4)] == [0, 0, 4, 3]


@pytest.mark.rule("R8 step 4")
def test_the_relic_goes_to_who_ended_the_quest_even_from_elsewhere() -> None:
    table = situation(
        knight("gawain", "lady_of_the_lake"),
        knight("kay", place="excalibur"),
        knight("arthur"),
        phase="heroic",
        excalibur=9,
    )
    play(table, "play:lady_of_the_lake")
    assert state_of(table).relics[Relic.EXCALIBUR] == 0


@pytest.mark.rule("R8 step 5", "R1.8")
def test_no_more_swords_are_laid_than_the_reserve_holds() -> None:
    table = about_to_lose("grail", white_swords=11, black_swords=0, mists=1, heroism="grail")
    lose(table, "grail")
    assert (state_of(table).white_swords, state_of(table).black_swords) == (11, 5)
    assert table.outcome is not None
    assert table.outcome.ending == "twelfth_sword_won"


@pytest.mark.rule("R8 step 10", "R16.2")
def test_the_end_of_the_game_is_tested_when_the_quest_is_cleared() -> None:
    table = about_to_lose("black_knight", white_swords=8, black_swords=3)
    lose(table, "black_knight")
    assert table.outcome is not None
    assert_cleared(table, "black_knight")
    assert knight_of(table, 1).place is Place.CAMELOT


# What no knight may do


@pytest.mark.rule("R3.3")
def test_the_active_player_alone_decides() -> None:
    table = situation(*fillers(4), phase="heroic", active=2)
    assert table.asked == (2,)
    for seat in (0, 1, 3):
        assert offered(table, seat) == []
        assert refusal(table, seat, "draw_white")[0] is Reason.NOT_ASKED


@pytest.mark.rule("R10.5")
def test_cards_on_a_combat_quest_are_neither_taken_back_nor_moved() -> None:
    table = situation(
        knight("gawain", place="black_knight"),
        *fillers(2, "gawain"),
        phase="heroic",
        black_knight={"white": [["fight_3"], ["fight_4"]]},
    )
    places = ("camelot", "lancelot", "excalibur", "grail", "pict_war", "saxon_war")
    assert offered(table, 0) == [f"move:{place}" for place in places]
