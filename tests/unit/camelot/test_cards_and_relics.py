"""Special cards, relics and revelation in play together: E113 to E142."""

from __future__ import annotations

import pytest

from engine.camelot import events
from engine.camelot.pieces import Card, Place, Relic, Standing
from engine.camelot.state import NOBODY
from engine.core.errors import Reason
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

NOT_OFFERED = Reason.UNKNOWN_OPTION

# Mordred


@pytest.mark.rule("E113", "B6", "R11.6")
def test_e113_mordreds_war_needs_a_second_five() -> None:
    table = situation(
        knight("arthur", "fight_5", place="saxon_war"),
        knight("gawain", "fight_5", place="saxon_war"),
        knight("kay"),
        phase="heroic",
        saxon_war={"run": 4, "mordred": True},
    )
    play(table, "fight:saxon_war:fight_5")
    assert (state_of(table).saxon_war.run, state_of(table).white_swords) == (5, 0)
    step = play(table, "end_turn", "add_engine", "fight:saxon_war:fight_5", "deal_at_random")
    state = state_of(table)
    ended = events.LastingCardEnded(Card.MORDRED, Place.SAXON_WAR, rule="B6")
    assert seen(step, events.LastingCardEnded) == [ended]
    assert state.white_swords == 1
    assert names(state.black_discards) == ["mordred"]
    assert (state.saxon_war.run, state.saxon_war.mordred) == (0, False)
    assert sorted(names(state.white_discards)) == ["fight_1", "fight_2", "fight_3", "fight_4", "fight_5", "fight_5"]


@pytest.mark.rule("E114", "B6", "R6.19")
def test_e114_mordred_comes_to_a_run_of_four() -> None:
    table = situation(
        knight("arthur", "fight_5", place="saxon_war"),
        knight("gawain", "fight_5 fight_1", place="saxon_war"),
        knight("kay"),
        black_top="mordred",
        saxon_war={"run": 4},
    )
    play(table, "draw_black")
    pick(table, 0, "pass")
    pick(table, 1, "pass")
    play(table, "war:saxon_war")
    assert (state_of(table).saxon_war.warriors, state_of(table).saxon_war.mordred) == (1, True)
    play(table, "fight:saxon_war:fight_5")
    assert (state_of(table).saxon_war.run, state_of(table).white_swords) == (5, 0)
    play(table, "end_turn", "add_engine")
    assert [option for option in offered(table, 1) if option.startswith("fight:")] == ["fight:saxon_war:fight_5"]
    assert refusal(table, 1, "fight:saxon_war:fight_1") == (NOT_OFFERED, "R6.19")


@pytest.mark.rule("E115", "B6", "R11.6")
def test_e115_mordreds_war_is_lost_to_the_fourth_pict() -> None:
    table = situation(
        knight("arthur"),
        knight("gawain", place="pict_war"),
        knight("kay"),
        black_top="picts",
        pict_war={"run": 2, "warriors": 3, "mordred": True},
    )
    play(table, "draw_black")
    state = state_of(table)
    assert (state.black_swords, state.engines, knight_of(table, 1).life) == (1, 2, 3)
    assert sorted(names(state.black_discards)) == ["mordred", "picts"]
    assert (state.pict_war.run, state.pict_war.warriors, state.pict_war.mordred) == (0, 0, False)
    (war, _) = table.view(None).game.wars
    assert (war.place, war.needed) == (Place.PICT_WAR, (1, 2, 3, 4, 5))


# Heroism


@pytest.mark.rule("E117", "W7")
def test_e117_heroism_doubles_a_lost_tournament_once() -> None:
    table = situation(
        *fillers(3),
        black_top="black_knight_1",
        black_knight={"black": laid("black_knight_1*3")},
        heroism="black_knight",
    )
    play(table, "draw_black", "face_up")
    assert state_of(table).black_swords == 2
    assert state_of(table).heroism is Place.NOWHERE
    assert names(state_of(table).white_discards) == ["heroism"]


@pytest.mark.rule("E118", "W7", "R6.21")
def test_e118_heroism_played_from_camelot_makes_four_swords_of_the_grail() -> None:
    table = situation(
        knight("arthur", "heroism"),
        knight("gawain", "grail", place="grail"),
        knight("kay"),
        phase="heroic",
        grail=["grail"] * 6,
    )
    play(table, "play:heroism", "quest:grail")
    assert (state_of(table).heroism, names(state_of(table).white_discards)) == (Place.GRAIL, [])
    play(table, "end_turn", "add_engine", "grail")
    assert state_of(table).white_swords == 4
    assert "heroism" in names(state_of(table).white_discards)


# Fate


@pytest.mark.rule("E119", "W6", "R15.6", "R15.7")
def test_e119_the_traitor_plays_fate() -> None:
    table = situation(
        knight("arthur", "fate piety", traitor=True),
        knight("gawain", "fight_1 fight_3 grail"),
        knight("kay", "fight_2"),
        *fillers(1, "arthur", "gawain", "kay"),
        phase="heroic",
    )
    play(table, "play:fate")
    assert asks(table) == ((1, 2), "discard")
    pick(table, 2, "card:fight_2")
    assert refusal(table, 1, "card:grail")[0] is Reason.TOO_FEW_PICKS
    pick(table, 1, "card:fight_1", "card:grail")
    assert [hand_of(table, seat) for seat in range(3)] == [[], ["fight_3"], []]
    assert (knight_of(table, 0).standing, knight_of(table, 0).shown) == (Standing.UNMASKED, True)
    assert state_of(table).white_swords == 0
    assert sorted(names(state_of(table).white_discards)) == ["fate", "fight_1", "fight_2", "grail", "piety"]
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("W6", "R18.3")
def test_cards_discarded_for_fate_are_seen_by_their_owner_only() -> None:
    table = situation(
        knight("arthur", "fate", traitor=True),
        knight("gawain", "fight_1*2"),
        *fillers(2, "arthur", "gawain"),
        phase="heroic",
    )
    play(table, "play:fate")
    step = pick(table, 1, "card:fight_1", "card:fight_1:2")
    for viewer in (0, 2, None):
        assert seen(step, events.CardsDiscarded, viewer) == [events.CardsDiscarded(1, 2, rule="W6")]
    assert seen(step, events.CardsDiscarded, 1)[0].cards == (Card.FIGHT_1, Card.FIGHT_1)


# Piety, Reinforcements, Messenger, Convocation, Lady of the Lake


@pytest.mark.rule("E121", "W10", "R13.1")
def test_e121_piety_for_oneself_or_for_every_other_knight() -> None:
    others = (knight("gawain", life=6), knight("kay", life=3), knight("tristan", life=5))
    table = situation(knight("arthur", "piety"), *others, phase="heroic")
    assert (play(table, "play:piety"), offered(table, 0))[1] == ["for_me", "for_others"]
    play(table, "for_me")
    assert [knight_of(table, seat).life for seat in range(4)] == [6, 6, 3, 5]
    table = situation(knight("arthur", "piety"), *others, phase="heroic")
    play(table, "play:piety", "for_others")
    assert [knight_of(table, seat).life for seat in range(4)] == [4, 6, 4, 6]


@pytest.mark.rule("E122", "W11")
def test_e122_reinforcements_for_the_others_or_for_oneself() -> None:
    traitor = knight("kay", life=0, standing="unmasked", place="nowhere", traitor=True, shown=True)
    others = (knight("gawain", "grail*12"), traitor, knight("tristan"))
    table = situation(knight("arthur", "reinforcements"), *others, phase="heroic")
    play(table, "play:reinforcements", "for_others")
    assert [len(hand_of(table, seat)) for seat in range(4)] == [0, 13, 0, 1]
    table = situation(knight("arthur", "reinforcements fight_1*12"), *others, phase="heroic")
    play(table, "play:reinforcements", "for_me")
    assert [len(hand_of(table, seat)) for seat in range(4)] == [16, 12, 0, 0]


@pytest.mark.rule("E123", "W9")
def test_e123_messenger_gives_one_or_two_of_two_cards() -> None:
    table = situation(
        knight("arthur", "messenger grail fight_1"),
        knight("gawain", "fight_2*12 fight_3"),
        knight("kay"),
        phase="heroic",
    )
    play(table, "play:messenger", "knight:1")
    question = table.question(0)
    assert question is not None
    assert (question.least, question.most) == (1, 2)
    step = pick(table, 0, "card:fight_1", "card:grail")
    assert hand_of(table, 0) == []
    assert hand_of(table, 1) == ["fight_1", *["fight_2"] * 12, "fight_3", "grail"]
    both = events.CardsGiven(0, 1, 2, (Card.FIGHT_1, Card.GRAIL), rule="W9")
    assert seen(step, events.CardsGiven, 0) == seen(step, events.CardsGiven, 1) == [both]
    assert seen(step, events.CardsGiven, 2) == [events.CardsGiven(0, 1, 2, rule="W9")]


@pytest.mark.rule("W9")
def test_messenger_gives_three_cards_at_most() -> None:
    table = situation(knight("arthur", "messenger grail*5"), *fillers(2, "arthur"), phase="heroic")
    play(table, "play:messenger", "knight:2")
    four = [f"card:grail{suffix}" for suffix in ("", ":2", ":3", ":4")]
    assert refusal(table, 0, *four)[0] is Reason.TOO_MANY_PICKS
    pick(table, 0, *four[:3])
    assert (len(hand_of(table, 0)), len(hand_of(table, 2))) == (2, 3)


@pytest.mark.rule("E125", "W5", "R6.10", "R20.10")
def test_e125_convocation_by_duty() -> None:
    table = situation(
        knight("arthur", "convocation"),
        knight("gawain", place="lancelot"),
        knight("kay", place="black_knight"),
        knight("tristan", place="grail"),
        phase="heroic",
        options={"convocation_return": "must"},
        lancelot={"white": [["fight_5"]]},
        black_knight={"white": [["fight_4"]]},
    )
    play(table, "play:convocation")
    assert {knight_of(table, seat).place for seat in range(4)} == {Place.CAMELOT}
    assert sorted(names(state_of(table).white_discards)) == ["fight_4", "fight_5"]
    assert asks(table) == ((0,), "propose_share")
    play(table, "deal_at_random")
    assert [len(hand_of(table, seat)) for seat in range(4)] == [1, 1, 1, 1]


@pytest.mark.rule("E126", "W8", "R13.1")
def test_e126_the_lady_heals_when_the_quest_is_over() -> None:
    table = situation(
        knight("arthur", "lady_of_the_lake", life=5), *fillers(2, "arthur"), phase="heroic", over=["excalibur"]
    )
    step = play(table, "play:lady_of_the_lake")
    assert knight_of(table, 0).life == 6
    assert seen(step, events.ExcaliburMoved) == []


# A single Merlin


@pytest.mark.rule("E127", "W3")
def test_e127_merlin_takes_the_despair_and_never_a_desolation() -> None:
    table = situation(
        knight("galahad", "merlin"),
        knight("kay", "merlin"),
        knight("arthur"),
        phase="heroic",
        grail=["grail", "", "", "", "", "desolation", "despair"],
        engines=1,
    )
    play(table, "play:merlin", "remove:card:grail")
    assert names(state_of(table).grail) == ["grail", "", "", "", "", "desolation", ""]
    play(table, "end_turn", "add_engine", "play:merlin")
    assert offered(table, 1) == ["remove:engine"]


@pytest.mark.rule("W3")
def test_merlin_sends_a_warrior_back() -> None:
    table = situation(
        knight("arthur", "merlin"),
        *fillers(2, "arthur"),
        phase="heroic",
        pict_war={"warriors": 3},
        saxon_war={"warriors": 1},
    )
    step = play(table, "play:merlin", "remove:warrior:pict_war")
    assert (state_of(table).pict_war.warriors, state_of(table).saxon_war.warriors) == (2, 1)
    assert seen(step, events.WarriorRemoved) == [events.WarriorRemoved(Place.PICT_WAR, 2, rule="W3")]


@pytest.mark.rule("E129", "W3")
def test_e129_merlin_does_not_move_the_sword() -> None:
    table = situation(
        knight("arthur", "merlin"),
        *fillers(2, "arthur"),
        phase="heroic",
        excalibur=1,
        engines=1,
        pict_war={"warriors": 1},
        black_knight={"black": laid("black_knight_5 black_knight_1")},
    )
    play(table, "play:merlin")
    assert offered(table, 0) == ["remove:engine", "remove:card:black_knight", "remove:warrior:pict_war"]
    play(table, "remove:card:black_knight")
    assert state_of(table).excalibur == 1
    assert [Card(card.card) for card in state_of(table).black_knight.black] == [Card.BLACK_KNIGHT_5]


# Morgan's volunteers


@pytest.mark.rule("E130", "B10")
def test_e130_two_cards_are_not_enough_to_volunteer() -> None:
    table = situation(
        knight("arthur", "fight_1 fight_2 grail"),
        knight("gawain", "fight_3 fight_4"),
        knight("kay"),
        black_top="morgan_three_cards",
    )
    play(table, "draw_black")
    pick(table, 0, "pass")
    pick(table, 1, "pass")
    assert asks(table) == ((0,), "volunteer")
    play(table, "pass")
    assert asks(table) == ((0, 1), "discard")
    step = pick(table, 0, "card:grail")
    assert seen(step, events.CardsDiscarded) == []
    step = pick(table, 1, "card:fight_3")
    assert [hand_of(table, seat) for seat in range(3)] == [["fight_1", "fight_2"], ["fight_4"], []]
    assert seen(step, events.CardsDiscarded) == [
        events.CardsDiscarded(0, 1, rule="B10"),
        events.CardsDiscarded(1, 1, rule="B10"),
    ]


@pytest.mark.rule("B10")
def test_the_first_volunteer_spares_the_others() -> None:
    table = situation(
        knight("arthur", "grail*3"),
        knight("gawain", "fight_3*4"),
        knight("kay", "fight_1*3"),
        black_top="morgan_three_cards",
    )
    play(table, "draw_black")
    for seat in range(3):
        pick(table, seat, "pass")
    play(table, "pass", "volunteer")
    assert asks(table) == ((1,), "discard")
    pick(table, 1, "card:fight_3", "card:fight_3:2", "card:fight_3:4")
    assert [len(hand_of(table, seat)) for seat in range(3)] == [3, 1, 3]


@pytest.mark.rule("E131", "B11", "R13.7")
def test_e131_a_volunteer_with_two_lives_falls() -> None:
    table = situation(
        knight("arthur", "grail"), knight("gawain", "fight_1", life=2), knight("kay"), black_top="morgan_two_lives"
    )
    play(table, "draw_black", "pass", "volunteer")
    assert (knight_of(table, 1).life, knight_of(table, 1).standing) == (0, Standing.ALIVE)
    assert (hand_of(table, 0), hand_of(table, 1)) == (["grail"], ["fight_1"])
    assert asks(table) == ((0,), "heroic_action")
    play(table, "draw_white", "end_turn")
    assert knight_of(table, 1).standing is Standing.DEAD
    assert table.asked == (2,)


@pytest.mark.rule("E131", "B11", "R9.4")
def test_e131_the_grail_is_offered_to_the_fallen_volunteer() -> None:
    table = situation(
        knight("arthur"),
        knight("gawain", life=2),
        knight("kay"),
        black_top="morgan_two_lives",
        relics={"holy_grail": 2},
    )
    play(table, "draw_black", "pass", "volunteer")
    assert (asks(table), offered(table, 2)) == (((2,), "holy_grail"), ["pass", "save:1"])
    play(table, "save:1")
    assert knight_of(table, 1).life == 4
    assert state_of(table).relics[Relic.HOLY_GRAIL] == NOBODY


@pytest.mark.rule("B11")
def test_one_life_is_not_enough_to_volunteer() -> None:
    table = situation(
        knight("arthur", "grail", life=1), knight("gawain", life=1), knight("kay", life=1), black_top="morgan_two_lives"
    )
    play(table, "draw_black")
    assert asks(table) == ((0,), "discard")


# Relics


@pytest.mark.rule("E133", "R9.3", "B8")
def test_e133_with_the_armor_each_of_morgans_draws_is_a_draw_of_two() -> None:
    table = situation(
        *fillers(3),
        black_top="despair morgan_three_draws picts saxons picts saxons picts saxons",
        relics={"lancelots_armor": 0},
    )
    play(table, "draw_black", "resolve:morgan_three_draws", *["resolve:picts"] * 3)
    state = state_of(table)
    assert (state.pict_war.warriors, state.saxon_war.warriors) == (3, 0)
    assert names(state.black_pile[:4]) == ["saxons", "saxons", "saxons", "despair"]
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("E134", "R9.6", "R15.2")
def test_e134_the_unmasked_traitor_keeps_the_armor_and_loses_the_grail() -> None:
    table = situation(
        knight("arthur"),
        knight("gawain", traitor=True),
        *fillers(2, "arthur", "gawain"),
        phase="heroic",
        engines=6,
        black_top="picts saxons",
        relics={"lancelots_armor": 1, "holy_grail": 1},
    )
    play(table, "accuse:1", "end_turn")
    relics = state_of(table).relics
    assert (relics[Relic.LANCELOTS_ARMOR], relics[Relic.HOLY_GRAIL]) == (1, NOBODY)
    play(table, "draw_black", "resolve:saxons")
    state = state_of(table)
    assert (state.pict_war.warriors, state.saxon_war.warriors) == (0, 1)
    assert names(state.black_pile[:1]) == ["picts"]


@pytest.mark.rule("E135", "R9.2", "R7.7")
def test_e135_giving_up_excalibur_stops_the_fourth_black_knight() -> None:
    table = situation(
        *fillers(3),
        black_top="black_knight_7",
        black_knight={"white": [["fight_5"]], "black": laid("black_knight_1*3")},
        relics={"excalibur": 1},
    )
    play(table, "draw_black", "face_up")
    assert asks(table) == ((1,), "excalibur")
    play(table, "give_up_excalibur")
    state = state_of(table)
    assert names(state.black_discards) == ["black_knight_7"]
    assert len(state.black_knight.black) == 3
    assert (state.white_swords, state.black_swords) == (0, 0)
    assert state.relics[Relic.EXCALIBUR] == NOBODY
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("E137", "R9.2", "R18.3")
def test_e137_a_face_down_card_stopped_by_excalibur_is_discarded_unseen() -> None:
    table = situation(*fillers(3), over=["lancelot"], black_top="lancelot_dragon_7_11", relics={"excalibur": 1})
    play(table, "draw_black")
    step = play(table, "face_down")
    for viewer in (1, 2, None):
        assert seen(step, events.BlackCardRead, viewer)[0].card is Card.UNKNOWN
    step = play(table, "give_up_excalibur")
    for viewer in (1, 2, None):
        assert seen(step, events.BlackCardCancelled, viewer)[0].card is Card.UNKNOWN
    assert seen(step, events.WhiteCardsDrawn) == []
    assert hand_of(table, 0) == []
    assert state_of(table).dragon.black == []
    assert names(state_of(table).black_discards) == ["lancelot_dragon_7_11"]


# The traitor between his actions


@pytest.mark.rule("E138", "R15.6", "R15.7", "R15.2")
def test_e138_the_traitor_reveals_himself_between_two_actions() -> None:
    table = situation(
        knight("arthur", "grail", traitor=True),
        knight("gawain", "fight_1"),
        *fillers(2, "arthur", "gawain"),
        phase="heroic",
    )
    play(table, "draw_white", "sacrifice", "reveal")
    assert (hand_of(table, 0), state_of(table).white_swords) == ([], 0)
    assert asks(table) == ((1,), "progression_of_evil")
    for _ in range(3):
        play(table, "add_engine", "draw_white", "end_turn")
    assert asks(table) == ((0,), "taunt")


# Lasting cards


@pytest.mark.rule("E139", "R12.D", "B5")
def test_e139_a_won_tournament_lifts_vivien_and_the_dark_forest_but_not_the_mists() -> None:
    table = situation(
        knight("arthur", "fight_4 merlin", place="black_knight"),
        knight("gawain", "grail", place="grail"),
        knight("kay"),
        phase="heroic",
        black_knight={"white": [["fight_3", "fight_3"], ["fight_4"]]},
        vivien=True,
        dark_forest=True,
        mists=1,
    )
    assert refusal(table, 0, "play:merlin") == (NOT_OFFERED, "R7.5")
    play(table, "fight:black_knight:fight_4:1")
    state = state_of(table)
    assert (state.vivien, state.dark_forest, state.mists) == (False, False, 1)
    assert sorted(names(state.black_discards)) == ["dark_forest", "vivien"]
    play(table, "sacrifice")
    assert "play:merlin" in offered(table, 0)
    play(table, "move:excalibur", "end_turn", "add_engine")
    assert "grail" in offered(table, 1)


# The Dragon


@pytest.mark.rule("E141", "R8.3", "R14.5", "R8 step 3")
def test_e141_the_dragon_is_won() -> None:
    table = situation(
        knight("palamedes", "fight_3", place="dragon", life=3),
        knight("gawain", place="dragon", life=5),
        knight("kay"),
        phase="heroic",
        over=["lancelot"],
        dragon={"white": [["fight_5"] * 3, ["fight_4"] * 3, ["fight_3"] * 2]},
    )
    play(table, "fight:dragon:fight_3:2")
    assert asks(table) == ((0,), "propose_share")
    play(table, "deal_at_random")
    assert state_of(table).white_swords == 2
    assert [knight_of(table, seat).life for seat in range(3)] == [6, 6, 4]
    assert [len(hand_of(table, seat)) for seat in range(3)] == [4, 3, 0]
    assert {knight_of(table, seat).place for seat in range(3)} == {Place.CAMELOT}


@pytest.mark.rule("E142", "R8.3", "R8.2", "R13.7")
def test_e142_the_lost_dragon_kills() -> None:
    table = situation(
        knight("arthur"),
        knight("gawain", place="dragon", life=1),
        knight("kay"),
        over=["lancelot"],
        black_top="lancelot_dragon_1_5",
        dragon={"white": [["fight_5"] * 3], "black": laid("lancelot_dragon_3_7*3 lancelot_dragon_1_5")},
    )
    play(table, "draw_black", "face_up")
    assert (state_of(table).black_swords, state_of(table).engines) == (2, 0)
    assert (knight_of(table, 1).life, knight_of(table, 1).standing) == (0, Standing.ALIVE)
    play(table, "draw_white", "end_turn")
    assert knight_of(table, 1).standing is Standing.DEAD
    assert table.asked == (2,)
