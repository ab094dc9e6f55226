"""Further cases where several rules meet: E143 to E162."""

from __future__ import annotations

import pytest

from engine.camelot import events
from engine.camelot.pieces import Card, Place, Relic, Standing
from engine.camelot.state import NOBODY
from engine.core.errors import Reason
from engine.core.games import Outcome
from tests.unit.camelot.situations import (
    asks,
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

WHOLE_WHITE_DECK = (
    "fight_1*14 fight_2*12 fight_3*10 fight_4*8 fight_5*7 grail*18 merlin*7 clairvoyance convocation fate heroism"
    " lady_of_the_lake messenger piety reinforcements"
)


@pytest.mark.rule("E143", "W7", "R8 step 9")
def test_e143_heroism_does_not_pass_from_lancelot_to_the_dragon() -> None:
    table = situation(
        *fillers(3),
        black_top="lancelot_dragon_1_5",
        lancelot={"black": laid("lancelot_dragon_1_5*3 lancelot_dragon_3_7")},
        heroism="lancelot",
    )
    play(table, "draw_black", "face_up")
    state = state_of(table)
    assert state.black_swords == 2
    assert (state.heroism, names(state.white_discards)) == (Place.NOWHERE, ["heroism"])
    lancelot, dragon = table.view(None).game.combats[1:]
    assert (lancelot.in_play, dragon.in_play, dragon.black) == (False, True, ())


@pytest.mark.rule("E145", "R14.8")
def test_e145_tristan_rides_first_only_where_he_can_act() -> None:
    table = situation(knight("tristan", "fight_3*2"), *fillers(2, "tristan"), phase="heroic", white_top="fight_2 grail")
    assert refusal(table, 0, "ride:pict_war") == (Reason.UNKNOWN_OPTION, "R14.8")
    assert refusal(table, 0, "ride:saxon_war") == (Reason.UNKNOWN_OPTION, "R14.8")
    assert {"ride:black_knight", "ride:lancelot", "ride:excalibur"} <= set(offered(table, 0))
    play(table, "draw_white")
    assert {"ride:pict_war", "ride:saxon_war"} <= set(offered(table, 0))


@pytest.mark.rule("E146", "R16.10", "R13.5")
def test_e146_the_last_loyal_knight_wins_as_he_dies() -> None:
    table = situation(
        knight("arthur", "fight_5", place="saxon_war", life=1),
        knight("gawain", life=0, standing="unmasked", place="nowhere", traitor=True, shown=True),
        knight("kay", life=0, standing="dead", place="nowhere"),
        phase="heroic",
        turn={"actions": 1, "types": ["special"]},
        saxon_war={"run": 4},
        white_swords=7,
        black_swords=4,
    )
    play(table, "sacrifice", "fight:saxon_war:fight_5")
    assert (state_of(table).white_swords, state_of(table).black_swords) == (8, 4)
    assert table.outcome == Outcome("twelfth_sword_won", "R16.4", (0, 2))


@pytest.mark.rule("E147", "R13.11", "R13.4", "R5.3")
def test_e147_a_fallen_drawer_finishes_morgans_draws() -> None:
    table = situation(
        knight("arthur", life=1),
        *fillers(2, "arthur"),
        black_top="morgan_three_draws morgan_wounds black_knight_1 picts",
    )
    play(table, "draw_black")
    assert (knight_of(table, 0).life, asks(table)) == (0, ((0,), "lay_black_card"))
    step = play(table, "face_down")
    assert seen(step, events.WhiteCardsDrawn) == []
    assert [card.face_down for card in state_of(table).black_knight.black] == [True]
    assert state_of(table).pict_war.warriors == 1
    assert knight_of(table, 0).standing is Standing.DEAD
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("E149", "R9.2", "R9.3", "R7.8")
def test_e149_armor_and_excalibur_in_one_hand() -> None:
    table = situation(*fillers(3), black_top="picts saxons", relics={"lancelots_armor": 0, "excalibur": 0})
    play(table, "draw_black", "resolve:picts")
    assert names(state_of(table).black_pile[:1]) == ["saxons"]
    assert asks(table) == ((0,), "excalibur")
    play(table, "give_up_excalibur")
    state = state_of(table)
    assert names(state.black_discards) == ["picts"]
    assert (state.pict_war.warriors, state.saxon_war.warriors) == (0, 0)
    assert (state.relics[Relic.EXCALIBUR], state.relics[Relic.LANCELOTS_ARMOR]) == (NOBODY, 0)


@pytest.mark.rule("E150", "R16.2", "B8")
def test_e150_morgans_draws_are_finished_before_the_count() -> None:
    table = situation(
        *fillers(3),
        black_top="morgan_three_draws black_knight_1 picts saxons",
        black_knight={"black": laid("black_knight_1*3")},
        white_swords=8,
        black_swords=3,
    )
    play(table, "draw_black", "face_up")
    state = state_of(table)
    assert (state.white_swords, state.black_swords) == (8, 4)
    assert (state.pict_war.warriors, state.saxon_war.warriors) == (1, 1)
    assert table.outcome == Outcome("twelfth_sword_won", "R16.4", (0, 1, 2))


@pytest.mark.rule("E151", "R17.3", "R17.6")
def test_e151_an_empty_pile_gives_nothing_until_something_was_discarded() -> None:
    table = situation(
        knight("arthur"), knight("gawain", WHOLE_WHITE_DECK, place="excalibur"), knight("kay"), phase="heroic"
    )
    play(table, "draw_white")
    assert hand_of(table, 0) == []
    play(table, "end_turn", "add_engine", "excalibur:fight_4", "end_turn", "add_engine")
    assert names(state_of(table).white_discards) == ["fight_4"]
    play(table, "draw_white")
    assert hand_of(table, 2) == ["fight_4"]
    assert (names(state_of(table).white_pile), names(state_of(table).white_discards)) == ([], [])


@pytest.mark.rule("E153", "R14.5")
def test_e153_palamedes_gains_in_another_players_turn() -> None:
    table = situation(
        knight("arthur", "fight_5", place="pict_war"),
        knight("palamedes", place="pict_war", life=3),
        knight("kay"),
        phase="heroic",
        pict_war={"run": 4},
    )
    play(table, "fight:pict_war:fight_5")
    assert [knight_of(table, seat).life for seat in range(3)] == [5, 5, 4]


@pytest.mark.rule("E155", "R15.8", "W6")
def test_e155_fate_as_the_last_action_of_a_dying_traitor() -> None:
    table = situation(
        knight("arthur", "fate piety", life=1, traitor=True),
        knight("gawain", "grail*3"),
        knight("kay", "fight_1 fight_2"),
        *fillers(1, "arthur", "gawain", "kay"),
        phase="heroic",
        turn={"actions": 1, "types": ["move"]},
    )
    play(table, "sacrifice", "play:fate")
    assert asks(table) == ((1, 2), "discard")
    pick(table, 1, "card:grail", "card:grail:2")
    pick(table, 2, "card:fight_1", "card:fight_2")
    assert [hand_of(table, seat) for seat in range(3)] == [[], ["grail"], []]
    traitor = table.view(None).game.knights[0]
    assert (traitor.standing, traitor.loyalty_shown, traitor.traitor) == (Standing.DEAD, True, True)
    for seat in (1, 2, 3):
        assert table.asked == (seat,)
        play(table, "add_engine", "draw_white", "end_turn")
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("E157", "B2", "R11.3")
def test_e157_desolation_takes_the_last_grail_card_and_the_quest() -> None:
    table = situation(*fillers(3), black_top="desolation", grail=["grail", *["despair"] * 6])
    play(table, "draw_black")
    state = state_of(table)
    assert state.black_swords == 3
    assert not table.view(None).game.grail_in_play
    assert names(state.white_discards) == ["grail"]
    assert sorted(names(state.black_discards)) == ["desolation", *["despair"] * 6]


@pytest.mark.rule("E158", "W5", "R6.10")
def test_e158_who_stays_away_from_the_convocation_is_not_counted() -> None:
    table = situation(
        knight("arthur", "convocation"),
        knight("gawain", place="lancelot"),
        *fillers(2, "arthur", "gawain"),
        phase="heroic",
        lancelot={"white": [["fight_5"]]},
    )
    play(table, "play:convocation")
    assert (asks(table), offered(table, 1)) == (((1,), "convocation"), ["stay", "return"])
    play(table, "stay")
    step = play(table, "deal_at_random")
    assert [names(group) for group in state_of(table).lancelot.white] == [["fight_5"], []]
    assert [len(hand_of(table, seat)) for seat in range(4)] == [1, 0, 1, 1]
    assert seen(step, events.CardsShared)[0].numbers == ((0, 1), (2, 1), (3, 1))


@pytest.mark.rule("E159", "R5.2", "R7.8")
def test_e159_with_the_dragon_over_its_cards_are_engines() -> None:
    table = situation(*fillers(3), over=["lancelot", "dragon"], black_top="lancelot_dragon_7_11")
    step = play(table, "draw_black")
    assert state_of(table).engines == 1
    assert hand_of(table, 0) == []
    assert seen(step, events.BlackCardRead)[0].card is Card.LANCELOT_DRAGON_7_11
    assert names(state_of(table).black_discards) == ["lancelot_dragon_7_11"]
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("E161", "R13.8", "R9.4")
@pytest.mark.parametrize(("saved", "lost"), [(1, 2), (2, 1)])
def test_e161_the_grail_saves_one_of_two(saved: int, lost: int) -> None:
    table = situation(
        knight("arthur"),
        knight("gawain", life=1),
        knight("kay", life=1),
        *fillers(1, "arthur", "gawain", "kay"),
        black_top="morgan_wounds",
        relics={"holy_grail": 1},
    )
    play(table, "draw_black")
    assert (asks(table), offered(table, 1)) == (((1,), "holy_grail"), ["pass", "save:1", "save:2"])
    play(table, f"save:{saved}")
    assert (knight_of(table, saved).life, knight_of(table, lost).life) == (4, 0)
    assert state_of(table).relics[Relic.HOLY_GRAIL] == NOBODY
    play(table, "draw_white", "end_turn")
    assert knight_of(table, saved).standing is Standing.ALIVE
    assert knight_of(table, lost).standing is Standing.DEAD


@pytest.mark.rule("E162", "R6.26")
def test_e162_pledged_merlins_do_not_count_as_a_special_card_of_the_turn() -> None:
    table = situation(
        knight("arthur", "merlin*3"), knight("gawain", "merlin"), knight("kay"), black_top="guinevere", engines=2
    )
    play(table, "draw_black")
    pick(table, 0, "pledge:2")
    pick(table, 1, "pledge:1")
    assert (asks(table), hand_of(table, 0)) == (((0,), "heroic_action"), ["merlin"])
    play(table, "play:merlin", "remove:engine")
    assert state_of(table).engines == 1
