"""Heroic actions, powers and white special cards: E55 to E75, and the rules of sections 6, 12.3 and 14 around them."""

from __future__ import annotations

import pytest

from engine.camelot import events
from engine.camelot.pieces import Card, Place
from engine.core.errors import Reason
from engine.core.table import Table
from tests.unit.camelot.situations import (
    asks,
    cards,
    fillers,
    hand_of,
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

NOT_OFFERED = Reason.UNKNOWN_OPTION


def of_verb(table: Table, seat: int, verb: str) -> list[str]:
    return [option for option in offered(table, seat) if option.split(":")[0] == verb]


# One action, and a second one by sacrifice


@pytest.mark.rule("R6.2", "R6.3")
def test_an_action_is_mandatory_and_comes_before_a_sacrifice() -> None:
    table = situation(*fillers(3), phase="heroic")
    assert refusal(table, 0, "end_turn") == (NOT_OFFERED, "R6.2")
    assert refusal(table, 0, "sacrifice") == (NOT_OFFERED, "R6.2")
    play(table, "draw_white")
    assert refusal(table, 0, "move:grail") == (NOT_OFFERED, "R6.3")
    assert {"sacrifice", "end_turn"} <= set(offered(table, 0))


@pytest.mark.rule("R6.3")
def test_a_sacrifice_costs_a_life_at_once_and_is_made_once() -> None:
    table = situation(knight("gawain", "piety"), *fillers(2, "gawain"), phase="heroic")
    play(table, "draw_white", "sacrifice")
    assert knight_of(table, 0).life == 3
    assert refusal(table, 0, "end_turn") == (NOT_OFFERED, "R6.2")
    assert refusal(table, 0, "sacrifice")[0] is NOT_OFFERED
    assert refusal(table, 0, "draw_white") == (NOT_OFFERED, "R6.3")
    play(table, "move:grail")
    assert refusal(table, 0, "sacrifice") == (NOT_OFFERED, "R6.3")
    assert offered(table, 0) == ["end_turn"]


@pytest.mark.rule("R6.2", "R6.6", "R6.7")
def test_with_nothing_else_to_do_a_knight_moves() -> None:
    table = situation(knight("gawain", place="grail"), *fillers(2, "gawain"), phase="heroic")
    assert offered(table, 0) == [
        f"move:{place}" for place in ("camelot", "black_knight", "lancelot", "excalibur", "pict_war", "saxon_war")
    ]


@pytest.mark.rule("R6.6")
def test_on_a_quest_a_knight_may_play_heal_or_accuse_instead() -> None:
    table = situation(
        knight("gawain", "grail*3 piety", place="pict_war"), *fillers(2, "gawain"), engines=6, phase="heroic"
    )
    assert {"play:piety", "heal:grail", "accuse:1", "accuse:2"} <= set(offered(table, 0))


@pytest.mark.rule("E55", "R6.3", "R6.5")
def test_e55_after_a_won_tournament_camelots_actions_are_of_the_type_used() -> None:
    table = situation(
        knight("kay", "fight_1 fight_2*3 piety", place="black_knight"),
        *fillers(2, "kay"),
        black_knight={"white": [["fight_3", "fight_3"], ["fight_1"]]},
        engines=6,
        phase="heroic",
    )
    play(table, "fight:black_knight:fight_1:1", "pass")
    assert knight_of(table, 0).place is Place.CAMELOT
    play(table, "sacrifice")
    assert refusal(table, 0, "draw_white") == (NOT_OFFERED, "R6.3")
    assert refusal(table, 0, "fight_engine") == (NOT_OFFERED, "R6.3")
    assert {"move:grail", "heal:fight_2", "play:piety", "accuse:1"} <= set(offered(table, 0))


# Moving


@pytest.mark.rule("R6.7", "R6.27", "R6.8")
def test_a_move_goes_anywhere_else() -> None:
    table = situation(knight("gawain"), *fillers(2, "gawain"), phase="heroic")
    assert refusal(table, 0, "move:camelot") == (NOT_OFFERED, "R6.27")
    play(table, "move:saxon_war")
    assert knight_of(table, 0).place is Place.SAXON_WAR


@pytest.mark.rule("R6.9")
@pytest.mark.parametrize("quest", ["black_knight", "lancelot"])
def test_a_solo_quest_holds_one_knight(quest: str) -> None:
    table = situation(knight("gawain"), knight("kay", place=quest), knight("arthur", place="grail"), phase="heroic")
    assert refusal(table, 0, f"move:{quest}") == (NOT_OFFERED, "R6.9")
    assert "move:grail" in offered(table, 0)


@pytest.mark.rule("R6.9")
def test_the_dragon_is_no_solo_quest() -> None:
    table = situation(
        knight("gawain"), knight("kay", place="dragon"), knight("arthur"), over=["lancelot"], phase="heroic"
    )
    assert "move:dragon" in offered(table, 0)


@pytest.mark.rule("R6.10", "R6.27")
def test_leaving_a_solo_quest_costs_its_white_cards() -> None:
    table = situation(
        knight("gawain", place="black_knight"),
        *fillers(2, "gawain"),
        black_knight={"white": [["fight_2", "fight_2"], ["fight_5"]], "black": laid("black_knight_1")},
        phase="heroic",
    )
    assert refusal(table, 0, "move:black_knight") == (NOT_OFFERED, "R6.27")
    (left,) = seen(play(table, "move:camelot"), events.SoloQuestAbandoned)
    assert (left.place, left.number) == (Place.BLACK_KNIGHT, 3)
    state = state_of(table)
    assert sorted(names(state.white_discards)) == ["fight_2", "fight_2", "fight_5"]
    assert len(state.black_knight.black) == 1
    assert (state.white_swords, state.black_swords) == (0, 0)


@pytest.mark.rule("E69", "R6.10")
def test_e69_a_run_stays_when_its_knight_leaves() -> None:
    table = situation(
        knight("gawain", place="pict_war"),
        knight("kay", "fight_4"),
        knight("arthur"),
        pict_war={"run": 3},
        phase="heroic",
    )
    play(table, "move:camelot", "end_turn")
    assert state_of(table).pict_war.run == 3
    play(table, "add_engine", "move:pict_war", "sacrifice", "fight:pict_war:fight_4")
    assert state_of(table).pict_war.run == 4


# Drawing


@pytest.mark.rule("E65", "R14.2", "R6.13")
def test_e65_gawain_draws_three_with_eleven_cards() -> None:
    table = situation(knight("gawain", "fight_1*11"), *fillers(2, "gawain"), phase="heroic")
    play(table, "draw_white")
    assert len(hand_of(table, 0)) == 14


@pytest.mark.rule("R6.13")
def test_others_draw_two_with_eleven_cards() -> None:
    table = situation(knight("kay", "fight_1*11"), *fillers(2, "kay"), phase="heroic")
    step = play(table, "draw_white")
    assert len(hand_of(table, 0)) == 13
    (drawn,) = seen(step, events.WhiteCardsDrawn, 1)
    assert (drawn.number, drawn.cards) == (2, ())


@pytest.mark.rule("R6.13", "R14.2")
@pytest.mark.parametrize("coat", ["kay", "gawain"])
def test_with_twelve_cards_nobody_draws(coat: str) -> None:
    table = situation(knight(coat, "fight_1*12"), *fillers(2, coat), phase="heroic")
    assert refusal(table, 0, "draw_white") == (NOT_OFFERED, "R6.13")


# Fighting engines


@pytest.mark.rule("R6.14")
@pytest.mark.parametrize(("roll", "engines", "life"), [(4, 1, 4), (5, 2, 3), (6, 2, 3)])
def test_an_engine_falls_to_more_than_the_roll(roll: int, engines: int, life: int) -> None:
    table = situation(
        knight("gawain", "fight_2 fight_3 fight_5 grail"),
        *fillers(2, "gawain"),
        engines=2,
        rolls=[roll],
        phase="heroic",
    )
    play(table, "fight_engine")
    assert offered(table, 0) == ["pass", "card:fight_2", "card:fight_3", "card:fight_5"]
    step = pick(table, 0, "card:fight_2", "card:fight_3")
    (fought,) = seen(step, events.EngineFought)
    assert (fought.cards, fought.roll) == ((Card.FIGHT_2, Card.FIGHT_3), roll)
    assert (state_of(table).engines, knight_of(table, 0).life) == (engines, life)
    assert hand_of(table, 0) == ["fight_5", "grail"]
    assert names(state_of(table).white_discards) == ["fight_2", "fight_3"]


@pytest.mark.rule("R6.14")
def test_an_engine_may_be_fought_with_no_card() -> None:
    table = situation(knight("gawain", "fight_1"), *fillers(2, "gawain"), engines=1, rolls=[1], phase="heroic")
    play(table, "fight_engine")
    assert refusal(table, 0, "pass", "card:fight_1")[0] is Reason.PICK_NOT_ALONE
    play(table, "pass")
    assert (state_of(table).engines, knight_of(table, 0).life) == (1, 3)


@pytest.mark.rule("R6.14", "R20.10")
def test_by_option_a_fight_needs_a_card() -> None:
    options = {"allow_zero_card_engine_fight": "false"}
    table = situation(
        knight("gawain", "grail"),
        knight("kay", "fight_1"),
        knight("arthur"),
        options=options,
        engines=1,
        phase="heroic",
    )
    assert refusal(table, 0, "fight_engine") == (NOT_OFFERED, "R6.14")
    play(table, "move:grail", "end_turn", "lose_life", "fight_engine")
    assert offered(table, 1) == ["card:fight_1"]


@pytest.mark.rule("E71", "R6.14")
def test_e71_without_engines_there_is_no_fight() -> None:
    table = situation(knight("gawain", "fight_5"), *fillers(2, "gawain"), phase="heroic")
    assert refusal(table, 0, "fight_engine") == (NOT_OFFERED, "R6.14")


@pytest.mark.rule("R6.15", "R14.4")
def test_kay_adds_a_card_to_his_own_engine_fight_after_the_roll() -> None:
    table = situation(knight("kay", "fight_3 fight_4"), *fillers(2, "kay"), engines=1, rolls=[6], phase="heroic")
    (fought,) = seen(play(table, "fight_engine", "card:fight_3"), events.EngineFought)
    assert fought.roll == 6
    assert asks(table) == ((0,), "kay_power")
    play(table, "card:fight_4")
    assert (state_of(table).engines, hand_of(table, 0)) == (0, [])


@pytest.mark.rule("R14.4")
def test_kay_does_not_help_in_anothers_engine_fight() -> None:
    table = situation(
        knight("gawain", "fight_3"), knight("kay", "fight_5"), knight("arthur"), engines=1, rolls=[3], phase="heroic"
    )
    play(table, "fight_engine", "card:fight_3")
    assert (state_of(table).engines, knight_of(table, 0).life) == (1, 3)


@pytest.mark.rule("R6.15", "R9.2")
@pytest.mark.parametrize(("owner", "engines"), [(0, 0), (1, 1)])
def test_excalibur_helps_its_owner_alone_against_an_engine(owner: int, engines: int) -> None:
    table = situation(
        knight("gawain", "fight_3"),
        *fillers(2, "gawain"),
        engines=1,
        rolls=[3],
        relics={"excalibur": owner},
        phase="heroic",
    )
    play(table, "fight_engine", "card:fight_3")
    assert state_of(table).engines == engines


# Excalibur and the wars


@pytest.mark.rule("R6.17", "R11.1", "R18.3")
def test_any_white_card_moves_excalibur_a_step_unseen() -> None:
    table = situation(
        knight("gawain", "grail fight_5", place="excalibur"), *fillers(2, "gawain"), excalibur=5, phase="heroic"
    )
    assert of_verb(table, 0, "excalibur") == ["excalibur:fight_5", "excalibur:grail"]
    assert refusal(table, 0, "excalibur:merlin") == (NOT_OFFERED, "R6.17")
    step = play(table, "excalibur:grail")
    assert state_of(table).excalibur == 6
    for viewer, known in ((0, (Card.GRAIL,)), (1, ()), (None, ())):
        assert [event.cards for event in seen(step, events.CardsDiscarded, viewer)] == [known]


@pytest.mark.rule("R11.2", "R8.3")
def test_the_fifth_step_from_the_middle_wins_excalibur() -> None:
    table = situation(
        knight("gawain", "fight_1", place="excalibur"), *fillers(2, "gawain"), excalibur=9, phase="heroic"
    )
    play(table, "excalibur:fight_1")
    state = state_of(table)
    assert (state.white_swords, state.black_swords) == (2, 0)
    assert (knight_of(table, 0).life, len(hand_of(table, 0))) == (5, 7)
    assert state.relics[1] == 0
    play(table, "sacrifice")
    assert refusal(table, 0, "move:excalibur") == (NOT_OFFERED, "R6.11")


@pytest.mark.rule("E70", "R6.19")
def test_e70_a_run_begins_with_one() -> None:
    table = situation(knight("gawain", "fight_1 fight_2", place="saxon_war"), *fillers(2, "gawain"), phase="heroic")
    assert refusal(table, 0, "fight:saxon_war:fight_2") == (NOT_OFFERED, "R6.19")
    assert of_verb(table, 0, "fight") == ["fight:saxon_war:fight_1"]
    play(table, "fight:saxon_war:fight_1")
    assert state_of(table).saxon_war.run == 1


@pytest.mark.rule("R11.6", "R8.3")
def test_the_run_complete_wins_the_war_which_restarts() -> None:
    table = situation(
        knight("gawain", "fight_5", place="pict_war"),
        *fillers(2, "gawain"),
        pict_war={"run": 4, "warriors": 3},
        phase="heroic",
    )
    play(table, "fight:pict_war:fight_5")
    state = state_of(table)
    assert (state.white_swords, state.black_swords, state.engines) == (1, 0, 0)
    assert (knight_of(table, 0).life, len(hand_of(table, 0))) == (5, 4)
    assert (state.pict_war.run, state.pict_war.warriors) == (0, 0)
    assert sorted(names(state.white_discards)) == cards("fight_1 fight_2 fight_3 fight_4 fight_5")
    play(table, "sacrifice")
    assert "move:pict_war" in offered(table, 0)


# Healing


@pytest.mark.rule("E66", "R6.25", "R6.24")
def test_e66_healing_at_six_spends_the_cards() -> None:
    table = situation(knight("gawain", "grail*3", life=6), *fillers(2, "gawain"), phase="heroic")
    step = play(table, "heal:grail")
    assert (knight_of(table, 0).life, hand_of(table, 0)) == (6, [])
    assert [event.cards for event in seen(step, events.CardsDiscarded, 1)] == [(Card.GRAIL,) * 3]


@pytest.mark.rule("E67", "R6.24")
def test_e67_three_equal_standard_cards_heal() -> None:
    table = situation(knight("gawain", "fight_2*3 grail"), *fillers(2, "gawain"), phase="heroic")
    play(table, "heal:fight_2")
    assert (knight_of(table, 0).life, hand_of(table, 0)) == (5, ["grail"])


@pytest.mark.rule("E67", "R6.24")
@pytest.mark.parametrize("hand", ["fight_1 fight_2 fight_3", "merlin*3", "grail*2 merlin*2"])
def test_e67_unequal_cards_and_merlins_do_not_heal(hand: str) -> None:
    table = situation(knight("gawain", hand), *fillers(2, "gawain"), phase="heroic")
    assert of_verb(table, 0, "heal") == []
    for card in set(cards(hand)):
        assert refusal(table, 0, f"heal:{card}") == (NOT_OFFERED, "R6.24")


@pytest.mark.rule("R6.24", "R20.10")
def test_by_option_three_merlins_heal() -> None:
    table = situation(
        knight("gawain", "merlin*3"), *fillers(2, "gawain"), options={"heal_with_merlins": "true"}, phase="heroic"
    )
    play(table, "heal:merlin")
    assert knight_of(table, 0).life == 5


# Accusing (the rest of section 14A is tested with the traitor)


@pytest.mark.rule("R6.1", "R6.3", "R14A.2")
def test_an_accusation_is_an_action_of_its_own_type() -> None:
    table = situation(knight("gawain"), *fillers(2, "gawain"), engines=6, white_swords=2, phase="heroic")
    play(table, "accuse:1", "sacrifice")
    assert refusal(table, 0, "accuse:2") == (NOT_OFFERED, "R6.3")
    assert "draw_white" in offered(table, 0)


# Powers


@pytest.mark.rule("E57", "R14.3", "R6.4", "R6.20")
def test_e57_galahads_free_card_excludes_a_second_special_card() -> None:
    table = situation(knight("galahad", "merlin piety"), *fillers(2, "galahad"), engines=1, phase="heroic")
    play(table, "free:merlin", "remove:engine")
    assert state_of(table).engines == 0
    assert refusal(table, 0, "end_turn") == (NOT_OFFERED, "R6.2")
    assert refusal(table, 0, "play:piety") == (NOT_OFFERED, "R6.20")
    assert refusal(table, 0, "free:piety") == (NOT_OFFERED, "R6.20")
    assert "draw_white" in offered(table, 0)


@pytest.mark.rule("E57", "R6.20")
def test_e57_without_the_free_card_one_special_card_is_an_action() -> None:
    table = situation(knight("galahad", "merlin piety"), *fillers(2, "galahad"), engines=1, phase="heroic")
    play(table, "play:merlin", "remove:engine")
    assert refusal(table, 0, "free:piety") == (NOT_OFFERED, "R6.20")
    play(table, "sacrifice")
    assert refusal(table, 0, "play:piety") == (NOT_OFFERED, "R6.20")


@pytest.mark.rule("R14.3")
def test_only_galahad_plays_a_special_card_free() -> None:
    table = situation(knight("gawain", "piety"), *fillers(2, "gawain"), phase="heroic")
    assert refusal(table, 0, "free:piety") == (NOT_OFFERED, "R14.3")


@pytest.mark.rule("E58", "R14.3", "R6.22")
def test_e58_galahads_merlin_leaves_his_action_and_his_merlins_for_others_turns() -> None:
    table = situation(
        knight("galahad", "merlin*4"),
        *fillers(2, "galahad"),
        engines=1,
        black_top="vivien",
        phase="heroic",
    )
    play(table, "free:merlin", "remove:engine", "draw_white", "end_turn")
    play(table, "draw_black", "pledge:3")
    assert not state_of(table).vivien


@pytest.mark.rule("R14.3", "R6.4")
def test_galahads_power_also_comes_after_his_action() -> None:
    table = situation(knight("galahad", "piety", life=1), *fillers(2, "galahad"), phase="heroic")
    play(table, "draw_white", "free:piety", "for_me")
    assert knight_of(table, 0).life == 4
    assert "end_turn" in offered(table, 0)


@pytest.mark.rule("E59", "R14.7", "R6.4")
def test_e59_tristan_rides_free_and_has_no_further_move() -> None:
    table = situation(knight("tristan", "fight_1"), *fillers(2, "tristan"), phase="heroic")
    play(table, "ride:saxon_war", "fight:saxon_war:fight_1")
    assert state_of(table).saxon_war.run == 1
    assert refusal(table, 0, "move:camelot") == (NOT_OFFERED, "R6.3")
    assert of_verb(table, 0, "ride") == []
    assert offered(table, 0) == ["end_turn"]
    assert refusal(table, 0, "sacrifice") == (NOT_OFFERED, "R6.3")


@pytest.mark.rule("E59", "R6.3", "R6.4")
def test_e59_a_sacrifice_after_the_ride_buys_no_move() -> None:
    table = situation(knight("tristan", "fight_1 piety"), *fillers(2, "tristan"), phase="heroic")
    play(table, "ride:saxon_war", "fight:saxon_war:fight_1", "sacrifice")
    assert refusal(table, 0, "move:camelot") == (NOT_OFFERED, "R6.3")
    assert offered(table, 0) == ["play:piety"]


@pytest.mark.rule("E61", "R14.7", "R6.4")
def test_e61_after_a_paid_move_to_camelot_there_is_no_free_ride() -> None:
    table = situation(knight("tristan", "grail", place="pict_war"), *fillers(2, "tristan"), phase="heroic")
    play(table, "move:camelot")
    assert of_verb(table, 0, "ride") == []
    assert refusal(table, 0, "ride:grail") == (NOT_OFFERED, "R6.4")


@pytest.mark.rule("R14.7")
def test_tristan_rides_after_a_quest_ended_this_turn_brought_him_home() -> None:
    table = situation(
        knight("tristan", "fight_5", place="pict_war"), *fillers(2, "tristan"), pict_war={"run": 4}, phase="heroic"
    )
    play(table, "fight:pict_war:fight_5", "ride:lancelot")
    assert knight_of(table, 0).place is Place.LANCELOT


@pytest.mark.rule("R14.7", "R6.9", "R6.11")
def test_tristan_rides_from_camelot_to_open_quests_only() -> None:
    table = situation(
        knight("tristan", "fight_1"),
        knight("kay", place="black_knight"),
        knight("arthur"),
        over=["grail"],
        phase="heroic",
    )
    play(table, "draw_white")
    assert of_verb(table, 0, "ride") == ["ride:lancelot", "ride:excalibur", "ride:pict_war", "ride:saxon_war"]
    assert refusal(table, 0, "ride:black_knight") == (NOT_OFFERED, "R6.9")
    assert refusal(table, 0, "ride:grail") == (NOT_OFFERED, "R6.11")
    table = situation(knight("tristan", "fight_1", place="grail"), *fillers(2, "tristan"), phase="heroic")
    assert refusal(table, 0, "ride:excalibur") == (NOT_OFFERED, "R14.7")
    table = situation(knight("kay", "fight_1"), *fillers(2, "kay"), phase="heroic")
    assert refusal(table, 0, "ride:excalibur") == (NOT_OFFERED, "R14.7")


@pytest.mark.rule("E62", "R14.1", "R18.3")
def test_e62_arthurs_partner_gives_his_only_card_before_he_gets_one() -> None:
    table = situation(
        knight("arthur", "fight_1 merlin"),
        knight("kay", "grail", place="dragon"),
        knight("gawain"),
        over=["lancelot"],
        phase="heroic",
    )
    play(table, "exchange:1")
    assert table.asked == (0, 1)
    assert offered(table, 1) == ["card:grail"]
    pick(table, 0, "card:merlin")
    assert refusal(table, 1, "pass") == (NOT_OFFERED, "")
    step = pick(table, 1, "card:grail")
    assert (hand_of(table, 0), hand_of(table, 1)) == (["fight_1", "grail"], ["merlin"])
    for viewer, known in ((0, [(Card.MERLIN,), (Card.GRAIL,)]), (1, [(Card.MERLIN,), (Card.GRAIL,)]), (2, [(), ()])):
        assert [event.cards for event in seen(step, events.CardsGiven, viewer)] == known
    assert refusal(table, 0, "exchange:1") == (NOT_OFFERED, "R14.1")
    assert refusal(table, 0, "end_turn") == (NOT_OFFERED, "R6.2")


@pytest.mark.rule("E63", "R14.1")
def test_e63_an_empty_hand_exchanges_nothing() -> None:
    table = situation(knight("arthur"), knight("kay", "grail"), knight("gawain"), phase="heroic")
    assert refusal(table, 0, "exchange:1") == (NOT_OFFERED, "R14.1")
    table = situation(knight("arthur", "grail"), knight("kay", "grail"), knight("gawain"), phase="heroic")
    assert of_verb(table, 0, "exchange") == ["exchange:1"]
    assert refusal(table, 0, "exchange:2") == (NOT_OFFERED, "R14.1")
    table = situation(knight("kay", "grail"), knight("arthur", "grail"), knight("gawain"), phase="heroic")
    assert refusal(table, 0, "exchange:1") == (NOT_OFFERED, "R14.1")


# Special white cards


@pytest.mark.rule("R6.20", "R6.21", "R6.23")
def test_a_special_card_is_played_from_anywhere_even_without_effect() -> None:
    table = situation(knight("gawain", "merlin piety", place="grail"), *fillers(2, "gawain"), phase="heroic")
    assert refusal(table, 0, "play:fate") == (NOT_OFFERED, "R6.20")
    play(table, "play:merlin")
    assert names(state_of(table).white_discards) == ["merlin"]
    play(table, "sacrifice")
    assert refusal(table, 0, "play:piety") == (NOT_OFFERED, "R6.20")


@pytest.mark.rule("R6.22")
def test_special_cards_are_played_in_ones_own_turn_only() -> None:
    table = situation(knight("gawain"), knight("kay", "piety"), knight("arthur"), phase="heroic")
    assert refusal(table, 1, "play:piety") == (Reason.NOT_ASKED, "")


@pytest.mark.rule("W3")
def test_a_merlin_removes_an_engine_a_warrior_or_a_card() -> None:
    table = situation(
        knight("gawain", "merlin"),
        *fillers(2, "gawain"),
        engines=3,
        pict_war={"warriors": 2},
        black_knight={"black": laid("black_knight_1")},
        phase="heroic",
    )
    play(table, "play:merlin")
    assert offered(table, 0) == ["remove:engine", "remove:card:black_knight", "remove:warrior:pict_war"]
    play(table, "remove:warrior:pict_war")
    assert (state_of(table).pict_war.warriors, state_of(table).engines) == (1, 3)


@pytest.mark.rule("W4", "R18.3")
def test_clairvoyance_arranges_the_top_five_black_cards() -> None:
    top = "despair picts despair guinevere saxons"
    table = situation(
        knight("gawain", "clairvoyance"), *fillers(2, "gawain"), black_top=f"{top} mordred", phase="heroic"
    )
    step = play(table, "play:clairvoyance")
    shown = tuple(Card[name.upper()] for name in cards(top))
    for viewer, known in ((0, shown), (1, ()), (None, ())):
        assert [event.cards for event in seen(step, events.BlackCardPeeked, viewer)] == [known]
    wanted = ("card:guinevere", "card:despair", "card:saxons", "card:despair:2", "card:picts")
    assert refusal(table, 0, *wanted[:4])[0] is Reason.TOO_FEW_PICKS
    step = pick(table, 0, *wanted)
    assert names(state_of(table).black_pile[-6:])[::-1] == cards("guinevere despair saxons despair picts mordred")
    assert [event.cards for event in seen(step, events.BlackCardsArranged, 1)] == [()]
    assert table.view(0).game.private.known_top[:2] == (Card.GUINEVERE, Card.DESPAIR)
    assert table.view(1).game.private.known_top == ()


@pytest.mark.rule("W4")
def test_clairvoyance_looks_at_fewer_cards_when_fewer_are_left() -> None:
    table = situation(
        knight("gawain", "clairvoyance"),
        *fillers(2, "gawain"),
        black_top="picts saxons",
        black_pile_size=2,
        phase="heroic",
    )
    play(table, "play:clairvoyance")
    pick(table, 0, "card:saxons", "card:picts")
    assert names(state_of(table).black_pile) == ["picts", "saxons"]


@pytest.mark.rule("E75", "W5", "R6.10")
def test_e75_answering_the_convocation_costs_a_solo_quests_white_cards() -> None:
    table = situation(
        knight("gawain", "convocation"),
        knight("kay", place="lancelot"),
        knight("arthur", place="grail"),
        knight("galahad"),
        lancelot={"white": [["fight_4", "fight_4"], []], "black": laid("lancelot_dragon_1_5")},
        phase="heroic",
    )
    play(table, "play:convocation")
    assert asks(table) == ((1,), "convocation")
    play(table, "return")
    assert sorted(names(state_of(table).white_discards)) == ["fight_4", "fight_4"]
    assert len(state_of(table).lancelot.black) == 1
    assert asks(table) == ((2,), "convocation")
    play(table, "stay")
    assert asks(table) == ((0,), "propose_share")
    assert table.view(0).game.pool.sharers == (0, 1, 3)
    assert refusal(table, 0, "give:2") == (NOT_OFFERED, "R2.10")
    play(table, "deal_at_random")
    assert [len(hand_of(table, seat)) for seat in range(4)] == [1, 1, 0, 1]


@pytest.mark.rule("W6", "R17.7")
def test_a_loyal_knights_fate_brings_everybody_a_card() -> None:
    table = situation(
        knight("kay", life=1),
        knight("gawain", "fate"),
        knight("arthur", "fight_1*12", place="grail"),
        knight("galahad"),
        active=1,
        white_top="grail fight_5 merlin piety",
        phase="heroic",
    )
    step = play(table, "play:fate")
    drawn = [(event.seat, event.number) for event in seen(step, events.WhiteCardsDrawn)]
    assert drawn == [(1, 1), (2, 1), (3, 1), (0, 1)]
    assert (hand_of(table, 1), hand_of(table, 3), hand_of(table, 0)) == (["grail"], ["merlin"], ["piety"])
    assert not knight_of(table, 1).shown


@pytest.mark.rule("W6", "R2.8")
def test_three_players_look_at_their_loyalty_when_they_play_fate() -> None:
    table = situation(knight("gawain", "fate"), *fillers(2, "gawain"), phase="heroic")
    assert table.view(0).game.knights[0].traitor is None
    step = play(table, "play:fate")
    assert [event.traitor for event in seen(step, events.LoyaltySeen, 0)] == [False]
    assert [event.traitor for event in seen(step, events.LoyaltySeen, 1)] == [None]
    assert table.view(0).game.knights[0].traitor is False
    assert table.view(1).game.knights[0].traitor is None
    assert table.view(1).game.knights[1].traitor is None


@pytest.mark.rule("W7", "R6.20")
def test_heroism_lies_beside_a_quest_in_play() -> None:
    table = situation(
        knight("gawain", "heroism", place="grail"), *fillers(2, "gawain"), over=["excalibur"], phase="heroic"
    )
    play(table, "play:heroism")
    assert offered(table, 0) == [
        f"quest:{quest}" for quest in ("black_knight", "lancelot", "grail", "pict_war", "saxon_war")
    ]
    play(table, "quest:saxon_war")
    assert state_of(table).heroism is Place.SAXON_WAR
    assert names(state_of(table).white_discards) == []


@pytest.mark.rule("W8")
def test_the_lady_of_the_lake_moves_excalibur_one_step() -> None:
    table = situation(knight("gawain", "lady_of_the_lake"), *fillers(2, "gawain"), excalibur=3, phase="heroic")
    play(table, "play:lady_of_the_lake")
    assert (state_of(table).excalibur, knight_of(table, 0).life) == (4, 4)


@pytest.mark.rule("E73", "W8", "R8.3")
def test_e73_the_lady_brings_excalibur_to_the_absent_player_and_the_rest_to_those_there() -> None:
    table = situation(
        knight("gawain", "lady_of_the_lake", place="dragon"),
        knight("kay", place="excalibur"),
        knight("arthur", place="excalibur", life=2),
        over=["lancelot"],
        excalibur=9,
        phase="heroic",
    )
    play(table, "play:lady_of_the_lake", "deal_at_random")
    state = state_of(table)
    assert (state.white_swords, state.relics[1]) == (2, 0)
    assert [each.life for each in state.knights] == [4, 5, 3]
    assert [len(each.hand) for each in state.knights] == [0, 4, 3]
    assert [each.place for each in state.knights] == [Place.DRAGON, Place.CAMELOT, Place.CAMELOT]


@pytest.mark.rule("E74", "W8", "R8.1")
def test_e74_with_nobody_on_the_quest_there_are_swords_and_relic_only() -> None:
    table = situation(
        knight("gawain", "lady_of_the_lake", place="grail"), *fillers(2, "gawain"), excalibur=9, phase="heroic"
    )
    play(table, "play:lady_of_the_lake")
    state = state_of(table)
    assert (state.white_swords, state.relics[1]) == (2, 0)
    assert [each.life for each in state.knights] == [4, 4, 4]
    assert [len(each.hand) for each in state.knights] == [0, 0, 0]
    assert asks(table) == ((0,), "heroic_action")
