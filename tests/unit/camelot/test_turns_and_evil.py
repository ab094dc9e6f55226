"""Turns and the Progression of Evil: E1 to E31, and the rules of sections 3 to 5, 7 and 12.4 around them."""

from __future__ import annotations

import pytest

from engine.camelot import events
from engine.camelot.pieces import Card, Place, Standing
from engine.core.errors import Reason
from tests.unit.camelot.situations import (
    asks,
    cards,
    fillers,
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

# Turns


@pytest.mark.rule("R3.1")
def test_a_turn_is_evil_then_heroic_then_the_next_player_clockwise() -> None:
    table = situation(knight("gawain"), knight("kay"), knight("arthur"), active=2)
    assert asks(table) == ((2,), "progression_of_evil")
    play(table, "add_engine")
    assert asks(table) == ((2,), "heroic_action")
    play(table, "draw_white", "end_turn")
    assert asks(table) == ((0,), "progression_of_evil")
    assert refusal(table, 1, "add_engine") == (Reason.NOT_ASKED, "")


@pytest.mark.rule("R3.4")
def test_the_dead_are_skipped() -> None:
    dead = knight("kay", life=0, standing="dead", place="nowhere")
    table = situation(knight("gawain"), dead, *fillers(2, "gawain", "kay"), phase="heroic")
    play(table, "draw_white", "end_turn")
    assert table.asked == (2,)


@pytest.mark.rule("R3.4", "R15.2")
def test_an_unmasked_traitor_keeps_his_turns() -> None:
    traitor = knight("kay", life=0, standing="unmasked", place="nowhere", traitor=True, shown=True)
    table = situation(knight("gawain"), traitor, *fillers(2, "gawain", "kay"), phase="heroic")
    play(table, "draw_white", "end_turn")
    assert asks(table) == ((1,), "taunt")
    play(table, "taunt:0")
    assert offered(table, 1) == ["draw_black", "add_engine"]


# The three options


@pytest.mark.rule("R4.1")
def test_all_three_options_are_always_open() -> None:
    table = situation(knight("gawain", life=1), *fillers(2, "gawain"), engines=11, black_swords=6)
    assert offered(table, 0) == ["draw_black", "add_engine", "lose_life"]


@pytest.mark.rule("R4.1")
def test_evil_is_mandatory() -> None:
    table = situation(*fillers(3))
    for evasion, rule in (("pass", ""), ("end_turn", "R3.1"), ("draw_white", "R3.1")):
        assert refusal(table, 0, evasion) == (Reason.UNKNOWN_OPTION, rule)
    assert refusal(table, 0)[0] is Reason.TOO_FEW_PICKS
    assert refusal(table, 0, "add_engine", "lose_life")[0] is Reason.TOO_MANY_PICKS


@pytest.mark.rule("R4.2")
def test_a_drawn_card_is_read_aloud() -> None:
    table = situation(*fillers(3), black_top="picts")
    (read,) = seen(play(table, "draw_black"), events.BlackCardRead)
    assert (read.seat, read.card, read.place) == (0, Card.PICTS, Place.PICT_WAR)


@pytest.mark.rule("R4.3")
def test_an_engine_comes_from_the_reserve() -> None:
    table = situation(*fillers(3), engines=4)
    play(table, "add_engine")
    assert state_of(table).engines == 5


@pytest.mark.rule("R4.4")
def test_a_life_is_lost() -> None:
    table = situation(*fillers(3))
    play(table, "lose_life")
    assert [knight_of(table, seat).life for seat in range(3)] == [3, 4, 4]


@pytest.mark.rule("E1", "R4.3", "R16.1")
def test_e1_the_twelfth_engine_ends_the_game_at_once() -> None:
    table = situation(*fillers(3), engines=11)
    play(table, "add_engine")
    assert state_of(table).engines == 12
    assert table.outcome is not None
    assert (table.outcome.ending, table.outcome.winners) == ("siege", ())
    assert table.asked == ()
    assert refusal(table, 0, "draw_white")[0] is Reason.DECISION_CLOSED


@pytest.mark.rule("E2", "R5.2", "R11.8")
def test_e2_a_card_of_a_lost_quest_brings_the_twelfth_engine() -> None:
    table = situation(*fillers(3), engines=11, over=["excalibur"], black_top="black_excalibur")
    play(table, "draw_black")
    assert state_of(table).engines == 12
    assert table.outcome is not None
    assert table.outcome.ending == "siege"


@pytest.mark.rule("E3", "R14.6", "R4.5")
def test_e3_percival_peeks_and_loses_a_life_instead() -> None:
    table = situation(knight("percival"), *fillers(2, "percival"), black_top="guinevere")
    assert offered(table, 0) == ["peek", "pass"]
    step = play(table, "peek")
    assert [event.cards for event in seen(step, events.BlackCardPeeked, 0)] == [(Card.GUINEVERE,)]
    for other in (1, 2, None):
        assert [event.cards for event in seen(step, events.BlackCardPeeked, other)] == [()]
    assert offered(table, 0) == ["draw_black", "add_engine", "lose_life"]
    play(table, "lose_life")
    assert knight_of(table, 0).life == 3
    assert state_of(table).black_pile[-1] == Card.GUINEVERE
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("R14.6")
def test_only_percival_peeks() -> None:
    table = situation(knight("gawain"), knight("percival"), knight("kay"))
    assert refusal(table, 0, "peek") == (Reason.UNKNOWN_OPTION, "R14.6")


@pytest.mark.rule("E5", "R9.3", "R4.5")
def test_e5_percival_with_the_armor_peeks_first_and_may_still_draw_two() -> None:
    table = situation(
        knight("percival"), *fillers(2, "percival"), relics={"lancelots_armor": 0}, black_top="guinevere picts"
    )
    play(table, "peek", "draw_black")
    assert offered(table, 0) == ["resolve:guinevere", "resolve:picts"]
    play(table, "resolve:picts")
    assert state_of(table).black_pile[0] == Card.GUINEVERE
    assert state_of(table).pict_war.warriors == 1
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("R9.3", "R7.8")
def test_the_armor_buries_the_other_card_before_the_played_one_is_announced() -> None:
    table = situation(
        knight("gawain"), *fillers(2, "gawain"), relics={"lancelots_armor": 0}, black_top="saxons morgan_engines"
    )
    step = play(table, "draw_black")
    assert [event.cards for event in seen(step, events.BlackCardsDrawn, 0)] == [(Card.SAXONS, Card.MORGAN_ENGINES)]
    assert [event.cards for event in seen(step, events.BlackCardsDrawn, 1)] == [()]
    step = play(table, "resolve:saxons")
    assert kinds(step)[:2] == ["black_card_buried", "black_card_read"]
    assert [event.card for event in seen(step, events.BlackCardBuried, 0)] == [Card.MORGAN_ENGINES]
    assert [event.card for event in seen(step, events.BlackCardBuried, 1)] == [Card.UNKNOWN]
    assert state_of(table).engines == 0


@pytest.mark.rule("R3.2", "B8", "R16.1")
def test_a_defeat_in_the_midst_of_an_effect_stops_it() -> None:
    table = situation(*fillers(3), engines=10, black_top="morgan_three_draws morgan_engines picts saxons")
    play(table, "draw_black")
    assert table.outcome is not None
    assert table.outcome.ending == "siege"
    assert state_of(table).pict_war.warriors == 0


# Standard cards


@pytest.mark.rule("R5.2")
@pytest.mark.parametrize(
    ("over", "card"),
    [
        (["excalibur"], "black_excalibur"),
        (["grail"], "despair"),
        (["lancelot", "dragon"], "lancelot_dragon_7_11"),
    ],
)
def test_a_card_of_a_quest_out_of_play_becomes_an_engine(over: list[str], card: str) -> None:
    table = situation(*fillers(3), over=over, black_top=card)
    play(table, "draw_black")
    assert state_of(table).engines == 1
    assert names(state_of(table).black_discards) == [card]
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("E6", "R5.3", "R18.3")
def test_e6_a_card_face_down_is_known_to_its_drawer_who_draws_a_white_card() -> None:
    table = situation(*fillers(3), black_top="black_knight_5", white_top="grail")
    play(table, "draw_black")
    assert offered(table, 0) == ["face_up", "face_down"]
    play(table, "face_down")
    for viewer, value in ((0, Card.BLACK_KNIGHT_5), (1, Card.UNKNOWN), (None, Card.UNKNOWN)):
        (slot,) = table.view(viewer).game.combats[0].black
        assert (slot.face_down, slot.card) == (True, value)
    assert hand_of(table, 0) == ["grail"]


@pytest.mark.rule("R5.3", "R4.2")
def test_a_card_face_up_is_seen_by_all_and_brings_no_white_card() -> None:
    table = situation(*fillers(3), black_top="black_knight_5")
    play(table, "draw_black", "face_up")
    (slot,) = table.view(None).game.combats[0].black
    assert (slot.face_down, slot.card) == (False, Card.BLACK_KNIGHT_5)
    assert hand_of(table, 0) == []


@pytest.mark.rule("E7", "R5.5", "R5.4")
def test_e7_the_card_for_a_face_down_one_ignores_the_hand_size() -> None:
    table = situation(knight("gawain", "fight_1*14"), *fillers(2, "gawain"), black_top="lancelot_dragon_1_5")
    play(table, "draw_black", "face_down")
    assert len(hand_of(table, 0)) == 15
    assert len(state_of(table).lancelot.black) == 1


@pytest.mark.rule("E9", "R5.4", "R10.9")
def test_e9_after_lancelot_a_card_goes_to_the_dragon_with_its_second_value() -> None:
    table = situation(
        *fillers(3), over=["lancelot"], dragon={"black": laid("lancelot_dragon_1_5*4")}, black_top="lancelot_dragon_3_7"
    )
    step = play(table, "draw_black", "face_up")
    (decided,) = seen(step, events.FightDecided)
    assert (decided.place, decided.white, decided.evil) == (Place.DRAGON, 0, 5 + 5 + 5 + 5 + 7)


@pytest.mark.rule("E10", "R8.3", "R5.4")
def test_e10_face_down_cards_of_lancelot_do_not_reach_the_dragon() -> None:
    table = situation(
        *fillers(3), lancelot={"black": laid("lancelot_dragon_1_5*4")}, black_top="lancelot_dragon_7_11 despair"
    )
    play(table, "draw_black", "face_down")
    state = state_of(table)
    assert sorted(names(state.black_discards)) == ["lancelot_dragon_1_5"] * 4 + ["lancelot_dragon_7_11"]
    assert (state.lancelot.black, state.dragon.black) == ([], [])
    play(table, "move:dragon")
    assert knight_of(table, 0).place is Place.DRAGON


@pytest.mark.rule("R5.6")
def test_a_black_excalibur_moves_the_sword_one_step_to_evil() -> None:
    table = situation(*fillers(3), excalibur=5, black_top="black_excalibur")
    play(table, "draw_black")
    assert state_of(table).excalibur == 4
    assert names(state_of(table).black_discards) == ["black_excalibur"]


@pytest.mark.rule("R5.9", "R8.3", "R11.2")
def test_the_last_step_to_evil_loses_excalibur() -> None:
    table = situation(
        knight("gawain"), knight("kay", place="excalibur"), knight("arthur"), excalibur=1, black_top="black_excalibur"
    )
    play(table, "draw_black")
    state = state_of(table)
    assert (state.white_swords, state.black_swords, state.engines) == (0, 2, 0)
    assert [each.life for each in state.knights] == [4, 3, 4]
    assert knight_of(table, 1).place is Place.CAMELOT
    assert refusal(table, 0, "move:excalibur") == (Reason.UNKNOWN_OPTION, "R6.11")


@pytest.mark.rule("R5.8")
@pytest.mark.parametrize(("card", "picts", "saxons"), [("picts", 2, 1), ("saxons", 1, 2)])
def test_warriors_join_their_war(card: str, picts: int, saxons: int) -> None:
    table = situation(*fillers(3), pict_war={"warriors": 1}, saxon_war={"warriors": 1}, black_top=card)
    play(table, "draw_black")
    assert (state_of(table).pict_war.warriors, state_of(table).saxon_war.warriors) == (picts, saxons)
    assert names(state_of(table).black_discards) == [card]


@pytest.mark.rule("E11", "R5.8")
def test_e11_mercenaries_go_where_the_drawer_wants() -> None:
    table = situation(*fillers(3), pict_war={"warriors": 3}, saxon_war={"warriors": 1}, black_top="mercenaries")
    play(table, "draw_black")
    assert offered(table, 0) == ["war:pict_war", "war:saxon_war"]
    play(table, "war:saxon_war")
    assert (state_of(table).pict_war.warriors, state_of(table).saxon_war.warriors) == (3, 2)


@pytest.mark.rule("R5.9", "R8.3", "R11.6")
def test_the_fourth_warrior_loses_the_war() -> None:
    table = situation(
        knight("gawain", place="saxon_war"),
        knight("kay", place="pict_war"),
        knight("arthur"),
        saxon_war={"warriors": 3, "run": 4},
        black_top="saxons",
    )
    play(table, "draw_black")
    state = state_of(table)
    assert (state.white_swords, state.black_swords, state.engines) == (0, 1, 2)
    assert [each.life for each in state.knights] == [3, 4, 4]
    assert (state.saxon_war.run, state.saxon_war.warriors) == (0, 0)
    assert sorted(names(state.white_discards)) == cards("fight_1 fight_2 fight_3 fight_4")
    assert [each.place for each in state.knights] == [Place.CAMELOT, Place.PICT_WAR, Place.CAMELOT]


@pytest.mark.rule("E13", "B6")
def test_e13_mordred_brings_one_war_its_fourth_warrior() -> None:
    table = situation(*fillers(3), pict_war={"warriors": 3}, saxon_war={"warriors": 3}, black_top="mordred")
    play(table, "draw_black")
    assert offered(table, 0) == ["war:pict_war", "war:saxon_war"]
    play(table, "war:pict_war")
    state = state_of(table)
    assert (state.pict_war.warriors, state.saxon_war.warriors) == (0, 3)
    assert (state.black_swords, state.engines) == (1, 2)
    assert names(state.black_discards) == ["mordred"]
    assert not state.pict_war.mordred


# Merlin against special cards


@pytest.mark.rule("E14", "R5.1")
def test_e14_merlins_do_not_stop_a_standard_card() -> None:
    table = situation(
        knight("gawain"), *(knight(coat, "merlin") for coat in ("kay", "arthur", "tristan")), black_top="black_knight_7"
    )
    play(table, "draw_black")
    assert asks(table) == ((0,), "lay_black_card")
    for seat in (1, 2, 3):
        assert refusal(table, seat, "pledge:1") == (Reason.NOT_ASKED, "")
    play(table, "face_up")
    assert len(state_of(table).black_knight.black) == 1


@pytest.mark.rule("E15", "R7.5")
def test_e15_vivien_in_play_leaves_no_window() -> None:
    table = situation(knight("gawain", "merlin*3"), *fillers(2, "gawain"), vivien=True, black_top="mordred")
    play(table, "draw_black")
    assert asks(table) == ((0,), "mordred")


@pytest.mark.rule("E17", "R7.1", "R7.5", "R17.1")
def test_e17_a_cancelled_vivien_may_come_back_after_a_reshuffle() -> None:
    table = situation(
        knight("gawain"), knight("kay", "merlin*3"), knight("arthur"), black_top="vivien", white_pile_size=2
    )
    play(table, "draw_black", "pledge:3")
    state = state_of(table)
    assert not state.vivien
    assert names(state.black_discards) == ["vivien"]
    assert hand_of(table, 1) == []
    play(table, "draw_white")
    assert names(state.black_discards) == []
    assert Card.VIVIEN in state.black_pile


@pytest.mark.rule("E18", "R12.E")
@pytest.mark.parametrize("card", ["vivien", "dark_forest"])
def test_e18_a_second_copy_is_discarded_without_effect(card: str) -> None:
    table = situation(knight("gawain"), *fillers(2, "gawain"), black_top=card)
    setattr(state_of(table), card, True)  # the box has one copy only
    play(table, "draw_black")
    assert names(state_of(table).black_discards) == [card]
    assert getattr(state_of(table), card) is True
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("E19", "R7.5", "R6.17")
def test_e19_vivien_does_not_keep_a_merlin_from_being_discarded_for_excalibur() -> None:
    table = situation(
        knight("gawain", "merlin", place="excalibur"), *fillers(2, "gawain"), vivien=True, engines=1, phase="heroic"
    )
    assert refusal(table, 0, "play:merlin") == (Reason.UNKNOWN_OPTION, "R7.5")
    play(table, "excalibur:merlin")
    assert state_of(table).excalibur == 6
    assert names(state_of(table).white_discards) == ["merlin"]


@pytest.mark.rule("R7.2")
def test_vivien_in_play_is_beyond_any_merlins() -> None:
    table = situation(knight("gawain"), *fillers(2, "gawain"), black_top="vivien")
    play(table, "draw_black")
    assert state_of(table).vivien
    knight_of(table, 0).hand[:] = bytes([Card.MERLIN] * 3)
    assert refusal(table, 0, "pledge:3") == (Reason.UNKNOWN_OPTION, "R7.4")
    assert refusal(table, 1, "pledge:3") == (Reason.NOT_ASKED, "")


@pytest.mark.rule("R7.1", "R7.4")
def test_exactly_three_merlins_are_used_in_the_order_of_the_pledges() -> None:
    table = situation(
        knight("gawain", "merlin"), knight("kay", "merlin*3"), knight("arthur", "merlin*3"), black_top="morgan_engines"
    )
    play(table, "draw_black")
    assert table.asked == (0, 1, 2)
    assert offered(table, 0) == ["pass", "pledge:1"]
    assert offered(table, 1) == ["pass", "pledge:1", "pledge:2", "pledge:3"]
    (pledged,) = seen(pick(table, 2, "pledge:2"), events.MerlinsPledged)
    assert (pledged.seat, pledged.number) == (2, 2)
    step = pick(table, 1, "pledge:3")
    assert [event.merlins for event in seen(step, events.BlackCardCancelled)] == [((2, 2), (1, 1))]
    assert [len(hand_of(table, seat)) for seat in range(3)] == [1, 2, 1]
    assert sorted(names(state_of(table).white_discards)) == ["merlin"] * 3
    assert names(state_of(table).black_discards) == ["morgan_engines"]
    assert state_of(table).engines == 0
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("R7.4")
def test_too_few_merlins_are_kept() -> None:
    table = situation(
        knight("gawain", "merlin"), knight("kay", "merlin"), knight("arthur", "fight_1"), black_top="morgan_engines"
    )
    play(table, "draw_black")
    pick(table, 0, "pledge:1")
    assert refusal(table, 0, "pass")[0] is Reason.DECISION_CLOSED
    assert refusal(table, 1, "pledge:2") == (Reason.UNKNOWN_OPTION, "R7.4")
    pick(table, 1, "pledge:1")
    assert state_of(table).engines == 0
    pick(table, 2, "pass")
    assert state_of(table).engines == 2
    assert [hand_of(table, seat) for seat in range(3)] == [["merlin"], ["merlin"], ["fight_1"]]


@pytest.mark.rule("R7.9")
@pytest.mark.parametrize(("hand", "key"), [("fight_1 merlin", "heroic_action"), ("fight_1 merlin*2", "pledge_merlins")])
def test_the_window_opens_with_three_cards_in_all_hands(hand: str, key: str) -> None:
    table = situation(knight("kay"), knight("gawain", hand), knight("arthur"), black_top="vivien")
    play(table, "draw_black")
    assert asks(table)[1] == key


@pytest.mark.rule("R7.4", "R15.1")
def test_an_unmasked_traitors_card_may_be_cancelled() -> None:
    traitor = knight("kay", life=0, standing="unmasked", place="nowhere", traitor=True, shown=True)
    table = situation(
        knight("gawain", "merlin*4"), traitor, knight("arthur"), active=1, phase="traitor", black_top="morgan_engines"
    )
    play(table, "taunt:0", "draw_black", "pledge:3")
    assert state_of(table).engines == 0
    assert hand_of(table, 0) == []


@pytest.mark.rule("R7.3", "R7.6", "B8")
def test_a_cancelled_morgan_draws_nothing() -> None:
    table = situation(
        knight("gawain"), knight("kay", "merlin*3"), knight("arthur"), black_top="morgan_three_draws picts"
    )
    play(table, "draw_black", "pledge:3")
    assert state_of(table).black_pile[-1] == Card.PICTS
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("R7.6", "B8", "B7")
def test_each_special_card_among_morgans_draws_has_its_own_window() -> None:
    table = situation(
        knight("gawain"),
        knight("kay", "merlin*3"),
        knight("arthur"),
        black_top="morgan_three_draws picts morgan_engines saxons",
    )
    play(table, "draw_black", "pass")
    assert state_of(table).pict_war.warriors == 1
    assert asks(table) == ((1,), "pledge_merlins")
    play(table, "pledge:3")
    assert (state_of(table).engines, state_of(table).saxon_war.warriors) == (0, 1)


@pytest.mark.rule("R6.22", "R6.26")
def test_merlins_pledged_in_ones_own_evil_phase_leave_the_special_card_free() -> None:
    table = situation(knight("gawain", "merlin*3 piety"), *fillers(2, "gawain"), black_top="vivien")
    play(table, "draw_black", "pledge:3")
    assert "play:piety" in offered(table, 0)


# Excalibur against standard cards


@pytest.mark.rule("R7.7", "R9.2")
def test_the_owner_of_excalibur_may_decline() -> None:
    table = situation(*fillers(3), relics={"excalibur": 1}, black_top="despair")
    play(table, "draw_black")
    assert asks(table) == ((1,), "excalibur")
    assert offered(table, 1) == ["pass", "give_up_excalibur"]
    play(table, "pass")
    assert state_of(table).grail[6] == Card.DESPAIR
    assert state_of(table).relics[1] == 1


@pytest.mark.rule("R7.7", "R5.2")
def test_excalibur_stops_a_card_that_would_become_an_engine() -> None:
    table = situation(*fillers(3), relics={"excalibur": 2}, over=["excalibur"], black_top="black_excalibur")
    play(table, "draw_black", "give_up_excalibur")
    state = state_of(table)
    assert (state.engines, names(state.black_discards)) == (0, ["black_excalibur"])
    assert state.relics[1] == -1
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("R9.2")
def test_excalibur_does_not_stop_a_special_card() -> None:
    table = situation(*fillers(3), relics={"excalibur": 0}, black_top="morgan_engines")
    play(table, "draw_black")
    assert state_of(table).engines == 2


@pytest.mark.rule("R9.2", "R20.10")
def test_by_option_excalibur_stops_a_special_card() -> None:
    table = situation(
        *fillers(3),
        options={"excalibur_cancels": "any_black"},
        relics={"excalibur": 0},
        black_top="morgan_engines",
    )
    play(table, "draw_black", "give_up_excalibur")
    assert (state_of(table).engines, names(state_of(table).black_discards)) == (0, ["morgan_engines"])


@pytest.mark.rule("R9.2", "R20.10")
@pytest.mark.parametrize(("owner", "key"), [(0, "excalibur"), (1, "heroic_action")])
def test_by_option_excalibur_stops_only_its_owners_draws(owner: int, key: str) -> None:
    table = situation(
        *fillers(3), options={"excalibur_cancel_drawer": "owner"}, relics={"excalibur": owner}, black_top="despair"
    )
    play(table, "draw_black")
    assert asks(table) == ((0,), key)


# Special cards


@pytest.mark.rule("B1")
def test_the_dark_forest_bars_grail_cards_from_the_grail_quest_alone() -> None:
    table = situation(
        knight("gawain", "grail*3", place="grail"), *fillers(2, "gawain"), dark_forest=True, phase="heroic"
    )
    assert refusal(table, 0, "grail") == (Reason.UNKNOWN_OPTION, "B1")
    assert "heal:grail" in offered(table, 0)


@pytest.mark.rule("E21", "B1")
def test_e21_despair_comes_through_the_dark_forest() -> None:
    table = situation(*fillers(3), dark_forest=True, black_top="despair")
    play(table, "draw_black")
    assert names(state_of(table).grail) == [""] * 6 + ["despair"]


@pytest.mark.rule("B1")
def test_the_dark_forest_takes_no_slot() -> None:
    table = situation(*fillers(3), black_top="dark_forest")
    play(table, "draw_black")
    assert state_of(table).dark_forest
    assert names(state_of(table).grail) == [""] * 7
    assert names(state_of(table).black_discards) == []


@pytest.mark.rule("E22", "B1")
def test_e22_the_dark_forest_after_the_grail_quest_is_an_engine() -> None:
    table = situation(*fillers(3), over=["grail"], black_top="dark_forest")
    play(table, "draw_black")
    state = state_of(table)
    assert (state.engines, state.dark_forest, names(state.black_discards)) == (1, False, ["dark_forest"])


@pytest.mark.rule("E23", "R12.D", "B12")
@pytest.mark.parametrize("duration", ["until_quest_won", "game"])
def test_e23_a_won_war_ends_vivien_unless_she_lasts_the_game(duration: str) -> None:
    table = situation(
        knight("gawain", "fight_5 merlin", place="saxon_war"),
        *fillers(2, "gawain"),
        options={"persistent_black_duration": duration},
        vivien=True,
        saxon_war={"run": 4},
        phase="heroic",
    )
    play(table, "fight:saxon_war:fight_5", "sacrifice")
    lifted = duration == "until_quest_won"
    assert state_of(table).vivien is not lifted
    assert names(state_of(table).black_discards) == ["vivien"] * lifted
    assert ("play:merlin" in offered(table, 0)) is lifted


@pytest.mark.rule("R12.D")
def test_a_lost_quest_lifts_nothing() -> None:
    table = situation(
        *fillers(3), vivien=True, dark_forest=True, grail=["", *["despair"] * 6], black_top="despair picts"
    )
    play(table, "draw_black")
    state = state_of(table)
    assert state.black_swords == 3
    assert state.vivien
    assert state.dark_forest


@pytest.mark.rule("R12.D", "R10.7")
def test_a_victory_by_a_black_card_lifts_too() -> None:
    table = situation(
        *fillers(3),
        vivien=True,
        dark_forest=True,
        black_knight={"white": [["fight_5", "fight_5"], []], "black": laid("black_knight_1*3")},
        black_top="black_knight_1",
    )
    play(table, "draw_black", "face_up")
    state = state_of(table)
    assert state.white_swords == 1
    assert not state.vivien
    assert not state.dark_forest


@pytest.mark.rule("R11.7", "R12.D")
def test_a_beaten_engine_lifts_nothing() -> None:
    table = situation(
        knight("gawain", "fight_5"), *fillers(2, "gawain"), vivien=True, engines=1, rolls=[1], phase="heroic"
    )
    play(table, "fight_engine", "card:fight_5")
    assert state_of(table).engines == 0
    assert state_of(table).vivien
    assert state_of(table).white_swords == 0


@pytest.mark.rule("E25", "B4", "R3.5")
def test_e25_guinevere_ends_the_turn_with_all_in_camelot() -> None:
    table = situation(*fillers(3), black_top="guinevere")
    play(table, "draw_black")
    assert asks(table) == ((1,), "progression_of_evil")
    assert names(state_of(table).black_discards) == ["guinevere"]


@pytest.mark.rule("B4", "R6.10")
def test_guinevere_calls_all_to_camelot_and_costs_the_white_cards_of_solo_quests() -> None:
    table = situation(
        knight("gawain", place="black_knight"),
        knight("kay", place="lancelot", traitor=True),
        knight("arthur", place="pict_war"),
        black_knight={"white": [["fight_2"]], "black": laid("black_knight_3")},
        lancelot={"white": [["fight_4"]]},
        pict_war={"run": 1},
        black_top="guinevere",
    )
    play(table, "draw_black")
    state = state_of(table)
    assert [each.place for each in state.knights] == [Place.CAMELOT] * 3
    assert sorted(names(state.white_discards)) == ["fight_2", "fight_4"]
    assert len(state.black_knight.black) == 1
    assert state.pict_war.run == 1
    assert [hand_of(table, seat) for seat in range(3)] == [[], [], []]
    assert table.asked == (1,)


@pytest.mark.rule("E26", "R7.3")
def test_e26_a_cancelled_guinevere_leaves_the_heroic_phase() -> None:
    table = situation(
        knight("gawain"), knight("kay", "merlin*3", place="lancelot"), knight("arthur"), black_top="guinevere"
    )
    play(table, "draw_black", "pledge:3")
    assert asks(table) == ((0,), "heroic_action")
    assert knight_of(table, 1).place is Place.LANCELOT


@pytest.mark.rule("E27", "B8")
@pytest.mark.parametrize(("stops", "saxons"), [("false", 1), ("true", 0)])
def test_e27_guinevere_among_three_draws_ends_the_turn_after_the_third(stops: str, saxons: int) -> None:
    table = situation(
        knight("gawain", place="grail"),
        *fillers(2, "gawain"),
        options={"guinevere_stops_morgan_draws": stops},
        black_top="morgan_three_draws picts guinevere saxons",
    )
    play(table, "draw_black")
    state = state_of(table)
    assert (state.pict_war.warriors, state.saxon_war.warriors) == (1, saxons)
    assert knight_of(table, 0).place is Place.CAMELOT
    assert sorted(names(state.black_discards)) == sorted(
        cards("guinevere morgan_three_draws picts") + ["saxons"] * saxons
    )
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("B5", "R12.D")
def test_the_mists_stay_when_a_quest_is_won() -> None:
    table = situation(
        knight("gawain", "fight_5", place="saxon_war"),
        *fillers(2, "gawain"),
        black_top="mists_of_avalon",
        saxon_war={"run": 4},
    )
    play(table, "draw_black", "fight:saxon_war:fight_5")
    assert state_of(table).mists == 1
    assert (state_of(table).white_swords, state_of(table).black_swords) == (1, 0)


@pytest.mark.rule("B7")
def test_morgan_adds_two_engines() -> None:
    table = situation(*fillers(3), engines=3, black_top="morgan_engines")
    play(table, "draw_black")
    assert state_of(table).engines == 5


@pytest.mark.rule("B9")
def test_morgan_wounds_every_living_knight_and_no_unmasked_traitor() -> None:
    traitor = knight("kay", life=0, standing="unmasked", place="nowhere", traitor=True, shown=True)
    table = situation(
        knight("gawain", life=6), traitor, knight("arthur"), knight("galahad", life=2), black_top="morgan_wounds"
    )
    play(table, "draw_black")
    assert [each.life for each in state_of(table).knights] == [5, 0, 3, 1]
    assert knight_of(table, 1).standing is Standing.UNMASKED


@pytest.mark.rule("E29", "R13.7", "R9.4")
def test_e29_the_grail_may_save_a_knight_wounded_in_anothers_turn() -> None:
    table = situation(
        knight("gawain"), knight("kay"), knight("arthur", life=1), relics={"holy_grail": 1}, black_top="morgan_wounds"
    )
    play(table, "draw_black")
    assert asks(table) == ((1,), "holy_grail")
    assert offered(table, 1) == ["pass", "save:2"]
    play(table, "save:2")
    assert [each.life for each in state_of(table).knights] == [3, 3, 4]
    assert state_of(table).relics[3] == -1
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("E29", "R13.7")
def test_e29_a_knight_not_saved_is_removed_at_the_end_of_the_turn() -> None:
    table = situation(knight("gawain"), knight("kay"), knight("arthur", "grail", life=1), black_top="morgan_wounds")
    play(table, "draw_black", "draw_white")
    assert knight_of(table, 2).standing is Standing.ALIVE
    assert hand_of(table, 2) == ["grail"]
    play(table, "end_turn")
    assert knight_of(table, 2).standing is Standing.DEAD
    assert names(state_of(table).white_discards) == ["grail"]


@pytest.mark.rule("B10", "R17.7")
def test_the_first_volunteer_discards_three_cards_of_his_choice() -> None:
    table = situation(
        knight("gawain", "fight_1*3"),
        knight("kay", "fight_2*2"),
        knight("arthur", "grail*3 fight_5"),
        black_top="morgan_three_cards",
    )
    play(table, "draw_black")
    for seat in (0, 1, 2):
        pick(table, seat, "pass")
    assert asks(table) == ((0,), "volunteer")
    play(table, "pass")
    assert asks(table) == ((2,), "volunteer")
    play(table, "volunteer")
    assert refusal(table, 2, "card:grail", "card:grail:2")[0] is Reason.TOO_FEW_PICKS
    step = pick(table, 2, "card:grail", "card:grail:2", "card:grail:3")
    assert [event.cards for event in seen(step, events.CardsDiscarded, 0)] == [()]
    assert [len(hand_of(table, seat)) for seat in range(3)] == [3, 2, 1]
    assert hand_of(table, 2) == ["fight_5"]


@pytest.mark.rule("B11")
def test_the_first_volunteer_loses_two_lives_and_nobody_a_card() -> None:
    table = situation(
        knight("gawain", life=1), knight("kay", "grail", life=3), knight("arthur"), black_top="morgan_two_lives"
    )
    play(table, "draw_black")
    assert asks(table) == ((1,), "volunteer")
    play(table, "volunteer")
    assert [each.life for each in state_of(table).knights] == [1, 1, 4]
    assert hand_of(table, 1) == ["grail"]


@pytest.mark.rule("B12", "R7.5")
def test_vivien_bars_merlins_in_every_use_of_their_own() -> None:
    table = situation(knight("gawain", "merlin"), *fillers(2, "gawain"), black_top="vivien guinevere", engines=1)
    play(table, "draw_black")
    assert refusal(table, 0, "play:merlin") == (Reason.UNKNOWN_OPTION, "R7.5")


@pytest.mark.rule("E30", "B5")
def test_e30_the_mists_bring_a_lost_war_a_second_black_sword() -> None:
    table = situation(*fillers(3), mists=1, pict_war={"warriors": 3}, black_top="picts")
    play(table, "draw_black")
    assert (state_of(table).black_swords, state_of(table).engines) == (2, 2)


@pytest.mark.rule("E31", "B5", "W7", "R8.3")
def test_e31_mists_and_heroism_bring_three_black_swords() -> None:
    table = situation(*fillers(3), mists=1, heroism="pict_war", pict_war={"warriors": 3}, black_top="picts")
    play(table, "draw_black")
    assert (state_of(table).black_swords, state_of(table).engines) == (3, 2)
    assert state_of(table).heroism is Place.NOWHERE
    assert names(state_of(table).white_discards) == ["heroism"]


@pytest.mark.rule("R12.E", "B5")
def test_second_mists_would_add_another_sword() -> None:
    table = situation(*fillers(3), mists=1, pict_war={"warriors": 3}, black_top="picts")
    state_of(table).mists = 2  # the box has one copy only
    play(table, "draw_black")
    assert state_of(table).black_swords == 3
