"""Life, death and the Grail: E77 to E86, and the rules of sections 9 and 13 around them."""

from __future__ import annotations

import pytest

from engine.camelot import events
from engine.camelot.pieces import Card, Place, Standing
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
EXCALIBUR, ARMOR, GRAIL = 1, 2, 3
NOBODY = -1
MOVED = {"actions": 1, "types": ["move"]}
"""A turn in which a move was made."""


# Fatal sacrifice


@pytest.mark.rule("E77", "R13.5", "R13.1")
def test_e77_the_life_won_by_a_fatal_sacrifice_does_not_save() -> None:
    table = situation(
        knight("gawain", "fight_5 grail", life=1, place="pict_war"),
        *fillers(2, "gawain"),
        pict_war={"run": 4},
        phase="heroic",
        turn=MOVED,
    )
    play(table, "sacrifice")
    assert knight_of(table, 0).life == 0
    step = play(table, "fight:pict_war:fight_5")
    assert state_of(table).white_swords == 1
    (drawn,) = seen(step, events.WhiteCardsDrawn)
    assert (drawn.seat, drawn.number) == (0, 4)
    (died,) = seen(step, events.KnightDied)
    assert (died.seat, died.cards) == (0, 1 + 4)
    assert (knight_of(table, 0).life, knight_of(table, 0).standing) == (0, Standing.DEAD)
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("E78", "R13.5", "R9.4", "R9.5")
def test_e78_the_grail_won_by_a_fatal_sacrifice_does_not_save() -> None:
    table = situation(
        knight("gawain", "grail", life=1, place="grail"),
        *fillers(2, "gawain"),
        grail=["grail"] * 6,
        phase="heroic",
        turn=MOVED,
    )
    step = play(table, "sacrifice", "grail")
    assert [(event.relic, event.seat) for event in seen(step, events.RelicWon)] == [(GRAIL, 0)]
    assert [(event.relic, event.seat, event.rule) for event in seen(step, events.RelicLost)] == [(GRAIL, 0, "R9.5")]
    assert state_of(table).white_swords == 3
    assert state_of(table).relics[GRAIL] == NOBODY
    assert knight_of(table, 0).standing is Standing.DEAD


@pytest.mark.rule("R13.5", "R13.2")
def test_excalibur_won_by_a_fatal_sacrifice_goes_with_the_knight() -> None:
    table = situation(
        knight("gawain", "fight_1", life=1, place="excalibur"),
        *fillers(2, "gawain"),
        excalibur=9,
        phase="heroic",
        turn=MOVED,
    )
    play(table, "sacrifice", "excalibur:fight_1")
    assert state_of(table).white_swords == 2
    assert state_of(table).relics[EXCALIBUR] == NOBODY


@pytest.mark.rule("R13.5", "R6.24")
def test_a_fatal_sacrifice_is_not_undone_by_healing() -> None:
    table = situation(
        knight("gawain", "grail*3", life=1),
        *fillers(2, "gawain"),
        phase="heroic",
        turn={"actions": 1, "types": ["quest"]},
    )
    play(table, "sacrifice", "heal:grail")
    assert knight_of(table, 0).standing is Standing.DEAD
    assert names(state_of(table).white_discards) == ["grail"] * 3


@pytest.mark.rule("E79", "R13.3", "R9.4")
@pytest.mark.parametrize("owner", [0, 1])
def test_e79_the_grail_won_earlier_is_offered_after_the_action(owner: int) -> None:
    table = situation(
        knight("gawain", "fight_5", life=1, place="pict_war"),
        *fillers(2, "gawain"),
        pict_war={"run": 4},
        relics={"holy_grail": owner},
        phase="heroic",
        turn=MOVED,
    )
    play(table, "sacrifice")
    assert asks(table) == ((0,), "heroic_action")
    play(table, "fight:pict_war:fight_5")
    assert asks(table) == ((owner,), "holy_grail")
    assert offered(table, owner) == ["pass", "save:0"]
    play(table, "save:0")
    assert (knight_of(table, 0).life, knight_of(table, 0).standing) == (4, Standing.ALIVE)
    assert len(hand_of(table, 0)) == 4
    assert state_of(table).relics[GRAIL] == NOBODY
    assert refusal(table, 0, "sacrifice") == (NOT_OFFERED, "R6.3")
    play(table, "end_turn")
    assert knight_of(table, 0).standing is Standing.ALIVE


@pytest.mark.rule("E79", "R13.5")
def test_e79_the_grails_owner_may_let_him_die() -> None:
    table = situation(
        knight("gawain", "piety", life=1), *fillers(2, "gawain"), relics={"holy_grail": 1}, phase="heroic", turn=MOVED
    )
    play(table, "sacrifice", "play:piety", "for_me", "pass")
    assert knight_of(table, 0).standing is Standing.DEAD
    assert state_of(table).relics[GRAIL] == 1


@pytest.mark.rule("R13.6")
@pytest.mark.parametrize(
    ("coat", "power"), [("arthur", "exchange:1"), ("galahad", "free:piety"), ("tristan", "ride:grail")]
)
def test_at_no_life_a_knight_has_no_power(coat: str, power: str) -> None:
    used = {"actions": 1, "types": ["heal"]}
    for life in (2, 1):
        table = situation(
            knight(coat, "piety grail", life=life),
            knight("kay", "fight_1"),
            knight("gawain"),
            phase="heroic",
            turn=used,
        )
        assert power in offered(table, 0)
        play(table, "sacrifice")
        assert (power in offered(table, 0)) is (life == 2)
    assert refusal(table, 0, power) == (NOT_OFFERED, "R13.6")


@pytest.mark.rule("R13.6", "R14.4")
def test_at_no_life_kay_adds_no_card() -> None:
    table = situation(
        knight("kay", "fight_1*2", life=1), *fillers(2, "kay"), engines=1, rolls=[1], phase="heroic", turn=MOVED
    )
    play(table, "sacrifice", "fight_engine", "card:fight_1")
    assert state_of(table).engines == 1
    assert knight_of(table, 0).standing is Standing.DEAD


# Falling to 0 in one's own evil phase


@pytest.mark.rule("E81", "R13.3", "R13.4", "R9.4")
def test_e81_saved_in_his_evil_phase_a_knight_goes_on_to_the_heroic_phase() -> None:
    table = situation(knight("gawain", life=1), *fillers(2, "gawain"), relics={"holy_grail": 0})
    play(table, "lose_life")
    assert offered(table, 0) == ["pass", "save:0"]
    play(table, "save:0")
    assert knight_of(table, 0).life == 4
    assert state_of(table).relics[GRAIL] == NOBODY
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("R13.4", "R13.2")
def test_not_saved_in_his_evil_phase_a_knight_has_no_heroic_phase() -> None:
    table = situation(knight("gawain", "grail fight_1", life=1), *fillers(2, "gawain"))
    play(table, "lose_life")
    dead = knight_of(table, 0)
    assert (dead.standing, dead.place, len(dead.hand)) == (Standing.DEAD, Place.NOWHERE, 0)
    assert sorted(names(state_of(table).white_discards)) == ["fight_1", "grail"]
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("R13.2", "R18.3")
def test_the_hand_of_the_dead_goes_unseen() -> None:
    table = situation(knight("gawain", "merlin fight_1", life=1), *fillers(2, "gawain"))
    step = play(table, "lose_life")
    assert [(event.seat, event.cards) for event in seen(step, events.KnightDied, 1)] == [(0, 2)]
    assert seen(step, events.CardsDiscarded, 1) == []


@pytest.mark.rule("R6.14", "R13.3")
def test_an_engine_fight_may_cost_the_last_life() -> None:
    table = situation(
        knight("gawain", "fight_1", life=1),
        *fillers(2, "gawain"),
        engines=1,
        rolls=[8],
        relics={"holy_grail": 1},
        phase="heroic",
    )
    play(table, "fight_engine", "card:fight_1")
    assert asks(table) == ((1,), "holy_grail")
    play(table, "save:0")
    assert knight_of(table, 0).life == 4
    assert asks(table) == ((0,), "heroic_action")


# What the dead leave behind


@pytest.mark.rule("E82", "R13.2", "R9.3")
def test_e82_the_armor_is_lost_with_its_owner() -> None:
    table = situation(
        knight("gawain", life=1), *fillers(2, "gawain"), relics={"lancelots_armor": 0}, black_top="picts saxons"
    )
    play(table, "lose_life")
    assert state_of(table).relics[ARMOR] == NOBODY
    play(table, "draw_black")
    assert (state_of(table).pict_war.warriors, state_of(table).saxon_war.warriors) == (1, 0)
    assert state_of(table).black_pile[-1] == Card.SAXONS


@pytest.mark.rule("R13.2", "R9.2", "R9.5")
def test_excalibur_and_grail_are_lost_with_their_owner() -> None:
    table = situation(
        knight("gawain", life=1), *fillers(2, "gawain"), relics={"excalibur": 0, "holy_grail": 0}, black_top="picts"
    )
    play(table, "lose_life", "pass")
    assert state_of(table).relics[1:] == [NOBODY] * 3
    play(table, "draw_black")
    assert state_of(table).pict_war.warriors == 1


@pytest.mark.rule("E83", "R6.10", "R13.2")
def test_e83_dying_on_the_tournament_costs_its_white_cards() -> None:
    table = situation(
        knight("gawain", life=1, place="black_knight"),
        *fillers(2, "gawain"),
        black_knight={"white": [["fight_3", "fight_3"], ["fight_1"]], "black": laid("black_knight_1 black_knight_5")},
    )
    play(table, "lose_life")
    state = state_of(table)
    assert sorted(names(state.white_discards)) == ["fight_1", "fight_3", "fight_3"]
    assert [len(group) for group in state.black_knight.white] == [0, 0]
    assert len(state.black_knight.black) == 2
    assert (state.white_swords, state.black_swords) == (0, 0)
    play(table, "add_engine")
    assert "move:black_knight" in offered(table, 1)


@pytest.mark.rule("E85", "R13.9", "R16.3", "R16.7")
def test_e85_a_dead_traitor_stays_secret_and_turns_no_sword() -> None:
    table = situation(
        knight("gawain", "fight_5", place="pict_war"),
        knight("kay", life=1, traitor=True),
        *fillers(2, "gawain", "kay"),
        active=1,
        white_swords=6,
        black_swords=5,
        pict_war={"run": 4},
    )
    step = play(table, "lose_life")
    assert knight_of(table, 1).standing is Standing.DEAD
    assert seen(step, events.LoyaltyShown) == []
    assert [table.view(viewer).game.knights[1].traitor for viewer in (0, 2, None)] == [None] * 3
    play(table, *("add_engine", "draw_white", "end_turn") * 2, "add_engine", "fight:pict_war:fight_5")
    assert (state_of(table).white_swords, state_of(table).black_swords) == (7, 5)
    assert table.outcome is not None
    assert (table.outcome.ending, table.outcome.winners) == ("twelfth_sword_won", (0, 2, 3))
    assert table.view(None).game.knights[1].traitor is True


@pytest.mark.rule("E85", "R13.9", "R16.7")
def test_e85_a_dead_traitor_wins_when_the_knights_lose() -> None:
    dead = knight("kay", life=0, standing="dead", place="nowhere", traitor=True)
    table = situation(knight("gawain"), dead, *fillers(2, "gawain", "kay"), engines=11)
    play(table, "add_engine")
    assert table.outcome is not None
    assert table.outcome.winners == (1,)


@pytest.mark.rule("R16.7", "R13.9")
def test_the_loyal_dead_win_with_their_side() -> None:
    dead = knight("kay", life=0, standing="dead", place="nowhere")
    table = situation(
        knight("gawain", "fight_5", place="pict_war"),
        dead,
        *fillers(2, "gawain", "kay"),
        white_swords=11,
        pict_war={"run": 4},
        phase="heroic",
    )
    play(table, "fight:pict_war:fight_5")
    assert table.outcome is not None
    assert table.outcome.winners == (0, 1, 2, 3)


@pytest.mark.rule("R13.10", "R16.1")
def test_the_last_loyal_knights_death_ends_the_game() -> None:
    dead = knight("arthur", life=0, standing="dead", place="nowhere")
    table = situation(knight("gawain", life=1), knight("kay", traitor=True), dead)
    play(table, "lose_life")
    assert table.outcome is not None
    assert (table.outcome.ending, table.outcome.winners) == ("all_dead", (1,))


@pytest.mark.rule("R13.10", "R16.7")
def test_with_all_dead_and_no_traitor_nobody_wins() -> None:
    dead = [knight(coat, life=0, standing="dead", place="nowhere") for coat in ("arthur", "kay")]
    table = situation(knight("gawain", life=1), *dead)
    play(table, "lose_life")
    assert table.outcome is not None
    assert (table.outcome.ending, table.outcome.winners) == ("all_dead", ())


# Life gained


@pytest.mark.rule("E86", "R14.5", "R13.1")
def test_e86_palamedes_gains_no_seventh_life() -> None:
    table = situation(
        knight("palamedes", "fight_5", life=5, place="pict_war"),
        *fillers(2, "palamedes"),
        pict_war={"run": 4},
        phase="heroic",
    )
    play(table, "fight:pict_war:fight_5")
    assert knight_of(table, 0).life == 6


@pytest.mark.rule("R14.5")
@pytest.mark.parametrize(("place", "life"), [("pict_war", 3 + 2), ("saxon_war", 3)])
def test_palamedes_gains_a_second_life_where_he_stands(place: str, life: int) -> None:
    table = situation(
        knight("gawain", "fight_5", life=3, place="pict_war"),
        knight("palamedes", life=3, place=place),
        knight("kay"),
        pict_war={"run": 4},
        phase="heroic",
    )
    play(table, "fight:pict_war:fight_5")
    assert knight_of(table, 1).life == life
    assert knight_of(table, 0).life == 4


@pytest.mark.rule("R14.5")
def test_palamedes_gains_nothing_by_a_defeat() -> None:
    table = situation(
        knight("palamedes", place="pict_war"), *fillers(2, "palamedes"), pict_war={"warriors": 3}, black_top="picts"
    )
    play(table, "draw_black")
    assert knight_of(table, 0).life == 3


# Between 0 life and removal


@pytest.mark.rule("R13.7", "R13.11")
def test_a_fallen_knight_is_chosen_for_nothing_and_gains_nothing() -> None:
    table = situation(
        knight("arthur", "messenger fight_1"),
        knight("kay", "grail", life=1),
        knight("gawain"),
        knight("galahad", "grail"),
        engines=6,
        black_top="morgan_wounds",
    )
    play(table, "draw_black")
    for seat in (0, 1, 3):
        pick(table, seat, "pass")
    assert (knight_of(table, 1).life, knight_of(table, 1).standing) == (0, Standing.ALIVE)
    assert refusal(table, 0, "exchange:1") == (NOT_OFFERED, "R13.11")
    assert refusal(table, 0, "accuse:1") == (NOT_OFFERED, "R13.11")
    assert {"exchange:3", "accuse:2"} <= set(offered(table, 0))
    play(table, "play:messenger")
    assert offered(table, 0) == ["knight:2", "knight:3"]
    play(table, "knight:2", "card:fight_1", "end_turn")
    assert knight_of(table, 1).standing is Standing.DEAD


@pytest.mark.rule("R13.11")
@pytest.mark.parametrize("card", ["reinforcements", "piety", "fate"])
def test_a_fallen_knight_gains_neither_card_nor_life(card: str) -> None:
    table = situation(
        knight("gawain", card), knight("kay", life=1), knight("arthur"), knight("galahad"), black_top="morgan_wounds"
    )
    play(table, "draw_black", f"play:{card}", *["for_others"] * (card != "fate"))
    assert (knight_of(table, 1).life, hand_of(table, 1)) == (0, [])
    assert knight_of(table, 2).life == (4 if card == "piety" else 3)
    assert len(hand_of(table, 2)) == (0 if card == "piety" else 1)


@pytest.mark.rule("R13.11", "R8.3")
def test_a_fallen_knight_only_returns_when_his_quest_is_won() -> None:
    table = situation(
        knight("gawain", "fight_5", place="pict_war"),
        knight("kay", life=1, place="pict_war"),
        knight("arthur"),
        pict_war={"run": 4},
        black_top="morgan_wounds",
    )
    play(table, "draw_black", "fight:pict_war:fight_5")
    assert (knight_of(table, 0).life, len(hand_of(table, 0))) == (4, 4)
    assert (knight_of(table, 1).life, len(hand_of(table, 1))) == (0, 0)
    assert knight_of(table, 1).place is Place.CAMELOT


@pytest.mark.rule("R13.11", "R13.6", "R14.4")
def test_a_fallen_kay_adds_no_card() -> None:
    table = situation(
        knight("gawain"),
        knight("kay", "fight_5", life=1, place="black_knight"),
        knight("arthur"),
        black_knight={"black": laid("black_knight_1*3")},
        black_top="morgan_three_draws morgan_wounds black_knight_1 picts",
    )
    play(table, "draw_black", "face_up")
    assert state_of(table).black_swords == 1
    assert hand_of(table, 1) == ["fight_5"]


@pytest.mark.rule("R13.11", "B10")
def test_a_fallen_knight_does_not_volunteer_but_discards() -> None:
    table = situation(
        knight("gawain"),
        knight("kay", "grail*4", life=1),
        knight("arthur"),
        black_top="morgan_three_draws morgan_wounds morgan_three_cards picts",
    )
    play(table, "draw_black", "pass", "pass", "pass")
    assert asks(table) == ((1,), "discard")
    play(table, "card:grail")
    assert hand_of(table, 1) == ["grail"] * 3


@pytest.mark.rule("R13.11", "R7.4")
def test_a_fallen_knight_still_lends_his_merlins() -> None:
    table = situation(
        knight("gawain"),
        knight("kay", "merlin*3", life=1),
        knight("arthur"),
        black_top="morgan_three_draws morgan_wounds morgan_engines picts",
    )
    play(table, "draw_black", "pass", "pass", "pledge:3")
    assert (state_of(table).engines, state_of(table).pict_war.warriors) == (0, 1)


@pytest.mark.rule("R13.11", "R9.2")
def test_a_fallen_knights_excalibur_still_works() -> None:
    table = situation(
        knight("gawain"),
        knight("kay", life=1),
        knight("arthur"),
        relics={"excalibur": 1},
        black_top="morgan_three_draws morgan_wounds picts saxons",
    )
    play(table, "draw_black")
    assert asks(table) == ((1,), "excalibur")
    play(table, "give_up_excalibur")
    assert (state_of(table).pict_war.warriors, state_of(table).saxon_war.warriors) == (0, 1)


@pytest.mark.rule("R13.11", "R9.4")
def test_a_fallen_owners_grail_is_for_the_others_only() -> None:
    table = situation(
        knight("gawain", life=3),
        knight("kay", life=1),
        knight("arthur", life=6),
        relics={"holy_grail": 1},
        black_top="morgan_three_draws morgan_wounds morgan_two_lives picts",
    )
    play(table, "draw_black")
    assert offered(table, 1) == ["pass", "save:1"]
    play(table, "pass", "volunteer")
    assert asks(table) == ((1,), "holy_grail")
    assert offered(table, 1) == ["pass", "save:0"]
    play(table, "save:0")
    assert (knight_of(table, 0).life, knight_of(table, 1).life) == (4, 0)


@pytest.mark.rule("R13.7", "R9.3", "R13.2")
def test_a_fallen_knights_armor_is_lost_at_the_end_of_the_turn() -> None:
    table = situation(
        knight("gawain"),
        knight("kay", life=1),
        knight("arthur"),
        relics={"lancelots_armor": 1},
        black_top="morgan_wounds",
    )
    play(table, "draw_black", "draw_white")
    assert state_of(table).relics[ARMOR] == 1
    play(table, "end_turn")
    assert state_of(table).relics[ARMOR] == NOBODY


# Relics


@pytest.mark.rule("R9.1")
def test_a_relic_is_public() -> None:
    table = situation(*fillers(3), relics={"excalibur": 1, "holy_grail": 1})
    for viewer in (0, 2, None):
        assert table.view(viewer).game.knights[1].relics == (EXCALIBUR, GRAIL)


@pytest.mark.rule("R9.4")
def test_the_grail_is_drunk_once() -> None:
    table = situation(
        knight("gawain", life=1), knight("kay"), knight("arthur", life=1), relics={"holy_grail": 1}, phase="evil"
    )
    play(table, "lose_life", "save:0", "draw_white", "end_turn")
    play(table, "add_engine", "draw_white", "end_turn", "lose_life")
    assert knight_of(table, 2).standing is Standing.DEAD
