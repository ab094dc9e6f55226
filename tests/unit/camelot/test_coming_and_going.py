"""Players who leave and join in mid-game: E110, E111, E154, and R20.1, R20.2, R20.7 and R20.8."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engine.camelot import events
from engine.camelot.game import CAMELOT
from engine.camelot.pieces import Card, Coat, Place, Relic, Standing
from engine.camelot.state import State
from engine.catalogue import GAMES
from engine.core.chance import Seed
from engine.core.errors import Reason, Refusal
from engine.core.table import Table
from tests.property.playing import moves
from tests.property.test_coming_and_going import leave_and_play_on
from tests.unit.camelot.situations import (
    asks,
    fillers,
    game_of,
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

ARMOR, GRAIL = Relic.LANCELOTS_ARMOR, Relic.HOLY_GRAIL
MOVED = {"actions": 1, "types": 1}
"""A turn in which a move was made."""


def changed(table: Table, change: Callable[[State], None]) -> Table:
    """The table begun anew from its state with a change."""
    state = CAMELOT.decode_state(table._mark.state)
    change(state)
    return Table.begin(CAMELOT, state, table.play.options, Seed.fixed(1))[0]


def reloaded(table: Table) -> Table:
    """The table as it travels, which is the same table."""
    again = Table.load(GAMES, table.save())
    assert again.save() == table.save()
    return again


def no_leaving(table: Table, seat: int) -> tuple[Reason, str]:
    with pytest.raises(Refusal) as refused:
        table.leave(seat)
    return refused.value.reason, refused.value.rule


def no_joining(table: Table) -> tuple[Reason, str]:
    with pytest.raises(Refusal) as refused:
        table.join()
    return refused.value.reason, refused.value.rule


def five(**facts: Any) -> Table:
    """Arthur, Gawain, Galahad, Kay and Palamedes; Arthur is active."""
    return situation(*fillers(5), **facts)


# Joining


@pytest.mark.rule("E110", "R20.1", "R20.8")
def test_e110_a_newcomer_sits_left_of_arthur_once_the_turn_is_over() -> None:
    table = five(white_top="fight_1 grail fight_3 fight_4 heroism fight_5")
    assert table.join().inputs[0].seat == 5
    assert asks(table) == ((0,), "progression_of_evil")
    assert state_of(table).order == [0, 1, 2, 3, 4]
    assert table.view(None).game.arriving == (5,)
    table = reloaded(table)

    play(table, "add_engine", "move:black_knight")
    step = play(table, "end_turn")

    (joined,) = seen(step, events.KnightJoined)
    assert (joined.seat, joined.life, joined.beside) == (5, 4, 0)
    assert joined.coat in (Coat.PERCIVAL, Coat.TRISTAN)
    assert state_of(table).order == [0, 5, 1, 2, 3, 4]
    newcomer = table.view(5).game.knights[5]
    assert (newcomer.coat, newcomer.life, newcomer.place) == (joined.coat, 4, Place.CAMELOT)
    assert (newcomer.standing, newcomer.joined) == (Standing.ALIVE, True)
    assert hand_of(table, 5) == ["fight_1", "fight_3", "fight_4", "grail", "heroism"]
    assert bytearray([joined.coat]) not in state_of(table).spare_coats
    assert table.view(None).game.arriving == ()
    assert table.asked == (5,)
    assert state_of(table).active == 5


@pytest.mark.rule("R20.1")
@pytest.mark.parametrize(
    ("coats", "order"),
    [
        (("gawain", "kay", "arthur", "tristan"), [0, 1, 2, 4, 3]),
        (("gawain", "kay", "galahad", "arthur"), [0, 1, 2, 3, 4]),
        (("gawain", "kay", "galahad", "tristan"), [0, 4, 1, 2, 3]),
    ],
)
def test_without_arthur_a_newcomer_sits_left_of_who_was_to_begin(coats: tuple[str, ...], order: list[int]) -> None:
    table = situation(*map(knight, coats), active=1)
    table.join()
    play(table, "add_engine", "move:black_knight", "end_turn")
    assert state_of(table).order == order


@pytest.mark.rule("E110", "R20.1")
def test_e110_a_full_table_is_not_joined() -> None:
    table = situation(*fillers(7))
    assert no_joining(table) == (Reason.SEATS_FIXED, "R20.1")
    six = situation(*fillers(6))
    six.join()
    assert no_joining(six) == (Reason.SEATS_FIXED, "R20.1")


@pytest.mark.rule("R20.8")
def test_what_the_gone_held_is_not_used_again() -> None:
    """The seventh Coat of Arms and one of two loyalty cards are left, though two knights are gone."""
    gone = {"life": 0, "place": "nowhere", "standing": "dead"}
    table = situation(*fillers(4), *[{**each, **gone} for each in fillers(2, "arthur", "gawain", "galahad", "kay")])
    table.leave(1)
    table.join()
    play(table, "add_engine", "move:black_knight", "end_turn")
    assert knight_of(table, 6).coat is Coat.TRISTAN
    assert len(state_of(table).spare_loyalty) == 1
    assert no_joining(table) == (Reason.SEATS_FIXED, "R20.1")


@pytest.mark.rule("R20.8", "R20.4")
def test_a_newcomer_needs_a_loyalty_card_that_was_never_dealt() -> None:
    table = Table.new(CAMELOT, 4, {"traitor_in_deck": "among_us"}, Seed.fixed(1))[0]
    table.join()
    assert no_joining(table) == (Reason.SEATS_FIXED, "R20.8")


@pytest.mark.rule("R20.1", "R20.8")
@pytest.mark.parametrize("traitor", [True, False])
def test_a_newcomer_draws_his_loyalty_from_the_cards_that_are_left(traitor: bool) -> None:
    def leave_one(state: State) -> None:
        state.spare_loyalty[:] = bytes([traitor])

    table = changed(five(), leave_one)
    table.join()
    play(table, "add_engine", "move:black_knight", "end_turn")
    assert table.view(5).game.knights[5].traitor is traitor
    assert [table.view(viewer).game.knights[5].traitor for viewer in (0, 1, None)] == [None] * 3
    assert not state_of(table).spare_loyalty


@pytest.mark.rule("R20.8", "R2.9")
def test_a_newcomer_of_a_first_game_is_loyal() -> None:
    table = changed(five(options={"traitor_in_deck": "none"}), lambda state: None)
    table.join()
    play(table, "add_engine", "move:black_knight", "end_turn")
    assert [table.view(viewer).game.knights[5].traitor for viewer in (0, 5, None)] == [False] * 3


@pytest.mark.rule("R20.8", "R2.8")
@pytest.mark.parametrize(("swords", "known"), [(5, None), (6, False)])
def test_in_a_game_begun_with_three_a_newcomer_waits_for_six_swords_too(swords: int, known: bool | None) -> None:
    table = situation(*fillers(3), white_swords=swords)
    table.join()
    play(table, "add_engine", "move:black_knight", "end_turn")
    assert len(state_of(table).knights) == 4
    assert [table.view(seat).game.knights[seat].traitor for seat in (0, 3)] == [known, known]


@pytest.mark.rule("R20.8", "R2.8")
def test_a_game_begun_with_four_never_waits_for_six_swords() -> None:
    table = situation(*fillers(4))
    table.leave(3)
    assert table.view(1).game.knights[1].traitor is False


@pytest.mark.rule("R20.8")
def test_who_waits_for_his_seat_sees_what_all_see_and_cannot_leave() -> None:
    table = five()
    table.join()
    view = table.view(5).game
    assert view.private is None
    assert view == table.view(None).game
    assert table.question(5) is None
    assert no_leaving(table, 5) == (Reason.SEATS_FIXED, "R20.8")
    play(table, "add_engine", "move:black_knight", "end_turn")
    table.leave(5)
    assert knight_of(table, 5).standing is Standing.LEFT
    assert table.asked == (1,)


@pytest.mark.rule("R20.8")
def test_two_newcomers_sit_down_one_after_the_other() -> None:
    table = five()
    assert [table.join().inputs[0].seat for _ in range(2)] == [5, 6]
    play(table, "add_engine", "move:black_knight", "end_turn")
    assert state_of(table).order == [0, 6, 5, 1, 2, 3, 4]
    assert sorted(each.coat for each in state_of(table).knights) == [coat for coat in Coat if coat]


@pytest.mark.rule("R20.1", "R17.3")
def test_a_newcomer_gets_what_cards_there_are() -> None:
    table = five(white_pile_size=2)
    table = changed(table, lambda state: state.knights[1].hand.extend(sorted(state.white_discards)))
    state_of(table).white_discards.clear()
    table = changed(table, lambda state: state.white_discards.clear())
    table.join()
    play(table, "add_engine", "move:black_knight", "end_turn")
    assert len(hand_of(table, 5)) == 2


# Leaving is like death


@pytest.mark.rule("E111", "R20.2", "R6.10", "R13.2")
def test_e111_a_leaver_with_the_armor_on_a_solo_quest() -> None:
    table = situation(
        knight("arthur"),
        knight("kay", "fight_1 merlin", place="black_knight", traitor=True),
        *fillers(3, "arthur", "kay"),
        relics={"lancelots_armor": 1},
        over=["lancelot"],
        black_knight={"white": [["fight_3", "fight_3"]], "black": laid("black_knight_5")},
    )
    step = table.leave(1)
    assert seen(step, events.KnightLeft) == [events.KnightLeft(1, 2, rule="R20.2")]
    assert seen(step, events.RelicLost) == [events.RelicLost(ARMOR, 1, rule="R20.2")]
    assert seen(step, events.SoloQuestAbandoned) == [events.SoloQuestAbandoned(Place.BLACK_KNIGHT, 2, rule="R6.10")]
    gone = knight_of(table, 1)
    assert (gone.standing, gone.life, gone.place, hand_of(table, 1)) == (Standing.LEFT, 0, Place.NOWHERE, [])
    assert sorted(names(state_of(table).white_discards)) == ["fight_1", "fight_3", "fight_3", "merlin"]
    assert len(state_of(table).black_knight.black) == 1
    assert table.view(0).game.knights[1].traitor is None
    assert asks(table) == ((0,), "progression_of_evil")
    reloaded(table)


@pytest.mark.rule("E111", "R20.2", "R6.10")
def test_e111_a_leaver_on_lancelot() -> None:
    table = situation(
        knight("arthur"),
        knight("kay", place="lancelot"),
        *fillers(3, "arthur", "kay"),
        lancelot={"white": [["fight_5"]], "black": laid("lancelot_dragon_1_5")},
    )
    table.leave(1)
    assert not any(state_of(table).lancelot.white)
    assert names(state_of(table).white_discards) == ["fight_5"]
    assert len(state_of(table).lancelot.black) == 1


@pytest.mark.rule("R20.2")
def test_the_grail_does_not_hold_a_leaver() -> None:
    table = situation(*fillers(3), relics={"holy_grail": 2}, over=["grail"])
    step = table.leave(1)
    assert asks(table) == ((0,), "progression_of_evil")
    assert seen(step, events.GrailDrunk) == []
    assert state_of(table).relics[GRAIL] == 2
    assert seen(table.leave(2), events.RelicLost) == [events.RelicLost(GRAIL, 2, rule="R9.5")]


@pytest.mark.rule("R20.2", "R13.9", "R16.7")
def test_a_leaver_wins_or_loses_with_his_side() -> None:
    table = situation(knight("arthur", traitor=True), *fillers(4, "arthur"), active=1, engines=11, phase="evil")
    table.leave(0)
    table.leave(4)
    play(table, "add_engine")
    assert table.outcome is not None
    assert (table.outcome.ending, table.outcome.winners) == ("siege", (0,))


@pytest.mark.rule("R20.2", "R16.3", "R16.7")
def test_a_traitor_who_left_turns_no_swords() -> None:
    table = situation(
        knight("gawain", "fight_5", place="pict_war"),
        knight("arthur", traitor=True),
        *fillers(2, "arthur", "gawain"),
        pict_war={"run": 4},
        white_swords=6,
        black_swords=5,
        phase="heroic",
    )
    table.leave(1)
    play(table, "fight:pict_war:fight_5")
    assert table.outcome is not None
    assert (table.outcome.ending, table.outcome.winners) == ("twelfth_sword_won", (0, 2, 3))


@pytest.mark.rule("R20.2")
def test_who_is_out_of_the_game_does_not_leave_it() -> None:
    dead = {"life": 0, "place": "nowhere", "standing": "dead"}
    table = situation(*fillers(3), {**fillers(1, "arthur", "gawain", "galahad")[0], **dead})
    table.leave(1)
    assert no_leaving(table, 1) == (Reason.SEATS_FIXED, "R20.2")
    assert no_leaving(table, 3) == (Reason.SEATS_FIXED, "R20.2")


@pytest.mark.rule("R20.7", "R16.1")
def test_with_the_last_loyal_knight_gone_the_game_is_lost_at_once() -> None:
    table = situation(knight("arthur", traitor=True), *fillers(2, "arthur"))
    assert table.leave(1).told
    assert asks(table) == ((0,), "progression_of_evil")
    step = table.leave(2)
    assert seen(step, events.GameEnded)[0].ending.name == "ALL_DEAD"
    assert table.asked == ()
    assert table.outcome is not None
    assert (table.outcome.ending, table.outcome.rule, table.outcome.winners) == ("all_dead", "R16.1", (0,))
    with pytest.raises(Refusal) as refused:
        table.leave(0)
    assert refused.value.reason is Reason.GAME_OVER
    assert no_joining(table)[0] is Reason.GAME_OVER
    reloaded(table)


@pytest.mark.rule("R20.7", "R16.1")
def test_a_doomed_loyal_knight_keeps_the_game_going_until_he_is_removed() -> None:
    table = situation(knight("arthur", traitor=True), knight("kay"), knight("gawain", life=0))
    table.leave(1)
    assert asks(table) == ((0,), "progression_of_evil")
    play(table, "add_engine", "move:black_knight", "end_turn")
    assert table.outcome is not None
    assert table.outcome.ending == "all_dead"


@pytest.mark.rule("R20.7")
def test_everybody_leaves() -> None:
    table = five()
    for seat in (3, 0, 4, 1):
        table.leave(seat)
        assert table.outcome is None
    table.leave(2)
    assert table.outcome is not None
    assert (table.outcome.ending, table.outcome.winners) == ("all_dead", ())


# A leaver's own choices


@pytest.mark.rule("R20.7", "R3.4")
def test_the_active_knight_leaves_and_his_turn_ends() -> None:
    table = five()
    table.leave(0)
    assert asks(table) == ((1,), "progression_of_evil")
    assert (state_of(table).engines, state_of(table).turns) == (0, 1)
    play(table, "add_engine")
    table.leave(1)
    assert asks(table) == ((2,), "progression_of_evil")
    for _ in range(3):
        play(table, "add_engine", "move:grail", "end_turn")
    assert asks(table) == ((2,), "progression_of_evil")


@pytest.mark.rule("R20.7")
def test_the_active_knight_leaves_over_his_cards_for_a_fight() -> None:
    table = situation(knight("arthur", "fight_5 fight_5"), *fillers(2, "arthur"), engines=3, phase="heroic")
    play(table, "fight_engine")
    step = table.leave(0)
    assert seen(step, events.EngineFought) == []
    assert state_of(table).engines == 3
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("R20.7", "R6.20")
@pytest.mark.parametrize("card", ["piety", "reinforcements", "heroism", "clairvoyance", "messenger", "merlin"])
def test_the_active_knight_leaves_over_a_special_card(card: str) -> None:
    table = situation(knight("arthur", f"{card} grail"), *fillers(2, "arthur"), phase="heroic", engines=1)
    play(table, f"play:{card}")
    assert table.asked == (0,)
    table.leave(0)
    assert sorted(names(state_of(table).white_discards)) == sorted(["grail", card])
    assert (state_of(table).played, state_of(table).heroism) == (0, Place.NOWHERE)
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("E154", "R20.7", "R7.4")
def test_e154_the_merlin_of_a_pledger_who_leaves_does_not_count() -> None:
    table = situation(
        knight("arthur"),
        knight("kay", "merlin grail"),
        knight("gawain", "merlin*2"),
        black_top="mists_of_avalon",
    )
    play(table, "draw_black")
    assert asks(table) == ((1, 2), "pledge_merlins")
    pick(table, 1, "pledge:1")
    table.leave(1)
    step = pick(table, 2, "pledge:2")
    assert seen(step, events.BlackCardCancelled) == []
    assert state_of(table).mists == 1
    assert hand_of(table, 2) == ["merlin", "merlin"]
    assert sorted(names(state_of(table).white_discards)) == ["grail", "merlin"]


@pytest.mark.rule("R20.7", "R7.4")
def test_the_last_one_asked_for_merlins_leaves_and_the_window_closes() -> None:
    table = situation(knight("arthur"), knight("kay", "merlin*3"), knight("gawain", "grail"), black_top="vivien")
    play(table, "draw_black")
    pick(table, 2, "pass")
    table.leave(1)
    assert state_of(table).vivien
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("R20.7", "B11")
def test_a_leaver_does_not_volunteer() -> None:
    table = situation(*fillers(4), black_top="morgan_two_lives")
    play(table, "draw_black", "pass")
    assert asks(table) == ((1,), "volunteer")
    step = table.leave(1)
    assert seen(step, events.Volunteered) == []
    assert asks(table) == ((2,), "volunteer")
    table.leave(3)
    play(table, "pass")
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("R20.7", "B10")
def test_a_duty_to_discard_ends_with_the_hand() -> None:
    table = situation(
        knight("arthur", "grail"),
        knight("kay", "fight_1*2"),
        knight("gawain", "fight_2*2"),
        black_top="morgan_three_cards",
        vivien=True,
    )
    play(table, "draw_black")
    assert asks(table) == ((0, 1, 2), "discard")
    pick(table, 0, "card:grail")
    table.leave(1)
    assert table.asked == (2,)
    pick(table, 2, "card:fight_2")
    assert hand_of(table, 2) == ["fight_2"]
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("R20.7", "B10")
def test_nobody_takes_over_the_loss_of_a_volunteer_who_leaves() -> None:
    table = situation(
        knight("arthur", "grail*3"),
        knight("kay", "fight_1*3"),
        *fillers(2, "arthur", "kay"),
        black_top="morgan_three_cards",
        vivien=True,
    )
    play(table, "draw_black", "pass", "volunteer")
    assert asks(table) == ((1,), "discard")
    table.leave(1)
    assert asks(table) == ((0,), "heroic_action")
    assert hand_of(table, 0) == ["grail"] * 3


@pytest.mark.rule("R20.7", "R14.4")
def test_kay_leaves_instead_of_helping() -> None:
    table = situation(
        knight("arthur", "fight_3", place="dragon"),
        knight("kay", "fight_5", place="dragon"),
        knight("gawain", place="dragon"),
        over=["lancelot"],
        dragon={
            "white": [["fight_1"] * 3, ["fight_2"] * 3, ["fight_3"] * 2],
            "black": laid("lancelot_dragon_7_11 lancelot_dragon_3_7"),
        },
        phase="heroic",
    )
    play(table, "fight:dragon:fight_3:2")
    assert asks(table) == ((1,), "kay_power")
    step = table.leave(1)
    (decided,) = seen(step, events.FightDecided)
    assert (decided.white, decided.evil, decided.won) == (18, 18, False)
    assert (knight_of(table, 0).life, knight_of(table, 0).place) == (2, Place.CAMELOT)
    assert (knight_of(table, 1).life, knight_of(table, 1).place) == (0, Place.NOWHERE)


@pytest.mark.rule("R20.7", "R9.2")
def test_excaliburs_owner_leaves_instead_of_giving_it_up() -> None:
    table = situation(*fillers(3), relics={"excalibur": 1}, over=["excalibur"], black_top="picts")
    play(table, "draw_black")
    assert asks(table) == ((1,), "excalibur")
    step = table.leave(1)
    assert seen(step, events.BlackCardCancelled) == []
    assert state_of(table).war(Place.PICT_WAR).warriors == 1


@pytest.mark.rule("R20.7", "R9.4")
def test_the_grails_owner_leaves_instead_of_saving() -> None:
    table = situation(knight("arthur", life=1), *fillers(3, "arthur"), relics={"holy_grail": 2}, over=["grail"])
    play(table, "lose_life")
    assert asks(table) == ((2,), "holy_grail")
    step = table.leave(2)
    assert [died.seat for died in seen(step, events.KnightDied)] == [0]
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("R20.7", "R9.4")
def test_one_of_those_to_be_saved_leaves() -> None:
    table = situation(
        knight("arthur", life=1),
        knight("kay", life=1),
        *fillers(2, "arthur", "kay"),
        relics={"holy_grail": 2},
        over=["grail"],
        black_top="morgan_wounds",
    )
    play(table, "draw_black")
    asked = table.decision
    assert offered(table, 2) == ["pass", "save:0", "save:1"]
    table.leave(0)
    assert offered(table, 2) == ["pass", "save:1"]
    assert table.decision != asked
    with pytest.raises(Refusal) as refused:
        table.answer(2, asked, ["save:1"])
    assert refused.value.reason is Reason.DECISION_CLOSED
    table = reloaded(table)
    table.leave(1)
    assert asks(table) == ((2,), "progression_of_evil")
    assert state_of(table).relics[GRAIL] == 2


@pytest.mark.rule("R20.7", "R14.1")
@pytest.mark.parametrize("leaver", [0, 1])
def test_an_exchange_is_off_when_one_of_the_two_leaves(leaver: int) -> None:
    table = situation(
        knight("arthur", "grail merlin"), knight("kay", "fight_1 fight_2"), knight("gawain"), phase="heroic"
    )
    play(table, "exchange:1")
    pick(table, 1 - leaver, "card:merlin" if leaver else "card:fight_1")
    step = table.leave(leaver)
    assert seen(step, events.CardsGiven) == []
    assert len(hand_of(table, 1 - leaver)) == 2
    assert asks(table) == (((0,), "heroic_action") if leaver else ((1,), "progression_of_evil"))
    if leaver:
        assert refusal(table, 0, "exchange:1")[1] == "R14.1"


@pytest.mark.rule("R20.7", "R14.1")
def test_an_exchange_is_off_even_if_the_other_has_not_answered() -> None:
    table = situation(
        knight("arthur", "grail merlin"), knight("kay", "fight_1 fight_2"), knight("gawain"), phase="heroic"
    )
    play(table, "exchange:1")
    table.leave(1)
    assert asks(table) == ((0,), "heroic_action")
    assert hand_of(table, 0) == ["grail", "merlin"]


@pytest.mark.rule("R20.7", "W5")
def test_a_leaver_is_not_called_together() -> None:
    table = situation(
        knight("arthur", "convocation"),
        knight("kay", place="grail"),
        knight("gawain", place="grail"),
        knight("tristan", place="excalibur"),
        phase="heroic",
        white_top="fight_1 fight_2 fight_3",
    )
    play(table, "play:convocation")
    assert asks(table) == ((1,), "convocation")
    table.leave(1)
    assert asks(table) == ((2,), "convocation")
    table.leave(3)
    step = play(table, "return")
    (pooled,) = seen(step, events.CardsPooled)
    assert (pooled.number, pooled.sharers) == (2, (0, 2))


@pytest.mark.rule("R20.7", "W5")
def test_a_convocation_goes_on_without_who_called_it() -> None:
    table = situation(
        knight("arthur", "convocation", place="pict_war"),
        knight("kay", place="grail"),
        knight("gawain"),
        phase="heroic",
        white_top="fight_1 fight_2",
    )
    play(table, "play:convocation")
    table.leave(0)
    play(table, "return", "deal_at_random")
    assert (len(hand_of(table, 1)), len(hand_of(table, 2))) == (1, 1)
    assert asks(table) == ((1,), "progression_of_evil")


# Others' choices about a leaver


@pytest.mark.rule("R20.7")
def test_others_are_asked_anew_where_a_departure_changes_what_they_can_choose() -> None:
    table = situation(
        knight("arthur", "grail"),
        knight("kay", "fight_1", place="lancelot"),
        *fillers(2, "arthur", "kay"),
        engines=6,
        phase="heroic",
    )
    asked = table.decision
    options = offered(table, 0)
    assert {"accuse:1", "exchange:1"} <= set(options)
    assert "move:lancelot" not in options
    step = table.leave(1)
    assert seen(step, events.KnightLeft)
    assert set(options) ^ set(offered(table, 0)) == {"accuse:1", "exchange:1", "move:lancelot"}
    assert int(table.decision) == int(asked) + 1
    reloaded(table)
    assert refusal(table, 0, "accuse:1") == (Reason.UNKNOWN_OPTION, "R14A.2")


@pytest.mark.rule("R20.7", "R18.3")
@pytest.mark.parametrize(("hand", "more"), [("fight_1", {"ride:black_knight"}), ("grail", set())])
def test_that_a_knight_is_asked_anew_does_not_tell_what_he_holds(hand: str, more: set[str]) -> None:
    """Tristan may ride to a quest that comes free only where he will have an action (R14.8)."""
    table = situation(knight("tristan", hand), knight("kay", place="black_knight"), *fillers(2), phase="heroic")
    asked, options = int(table.decision), offered(table, 0)
    table.leave(1)
    assert set(offered(table, 0)) - set(options) == {"move:black_knight"} | more
    table.leave(3)
    assert int(table.decision) == asked + 2


@pytest.mark.rule("R20.7")
def test_a_question_with_fixed_options_stays_as_it_is() -> None:
    table = five()
    asked = table.decision
    table.leave(3)
    assert (table.decision, table.asked) == (asked, (0,))


@pytest.mark.rule("R20.7", "W9")
def test_the_receiver_of_a_gift_leaves() -> None:
    table = situation(knight("arthur", "messenger grail*2"), knight("kay"), knight("gawain"), phase="heroic")
    play(table, "play:messenger")
    table.leave(1)
    assert offered(table, 0) == ["knight:2"]
    play(table, "knight:2")
    table.leave(2)
    assert hand_of(table, 0) == ["grail", "grail"]
    assert names(state_of(table).white_discards) == ["messenger"]
    assert asks(table) == ((0,), "heroic_action")


# A drawer who leaves


def drawing(*knights: dict[str, Any], card: str, **facts: Any) -> Table:
    return situation(*knights, black_top=card, **facts)


@pytest.mark.rule("R20.7", "R5.3")
def test_another_chooses_how_a_drawers_card_is_laid() -> None:
    """He learns the card, as he may have it laid face down; nobody gets a white card for it."""
    table = drawing(*fillers(4), card="black_knight_7")
    play(table, "draw_black")
    step = table.leave(0)
    replaced = events.DrawerReplaced(0, 1, (Card.BLACK_KNIGHT_7,), rule="R20.7")
    assert seen(step, events.DrawerReplaced, 1) == [replaced]
    assert seen(step, events.DrawerReplaced, 2) == [events.DrawerReplaced(0, 1, rule="R20.7")]
    assert asks(table) == ((1,), "lay_black_card")
    assert table.view(1).game.drawn[0].card is Card.BLACK_KNIGHT_7
    table = reloaded(table)
    table.leave(1)
    assert asks(table) == ((2,), "lay_black_card")
    step = play(table, "face_down")
    assert seen(step, events.WhiteCardsDrawn) == []
    (placed,) = (view.black[0] for view in table.view(2).game.combats if view.black)
    assert placed.card is Card.BLACK_KNIGHT_7
    (hidden,) = (view.black[0] for view in table.view(3).game.combats if view.black)
    assert hidden.card is Card.UNKNOWN
    assert asks(table) == ((2,), "progression_of_evil")


@pytest.mark.rule("R20.7", "R5.8")
@pytest.mark.parametrize(("card", "key"), [("mercenaries", "mercenaries"), ("mordred", "mordred")])
def test_another_chooses_the_war(card: str, key: str) -> None:
    table = drawing(*fillers(3), card=card)
    play(table, "draw_black")
    step = table.leave(0)
    assert seen(step, events.DrawerReplaced) == [], "the card has been read aloud"
    assert asks(table) == ((1,), key)
    play(table, "war:saxon_war")
    assert state_of(table).war(Place.SAXON_WAR).warriors == 1
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("R20.7", "R9.3")
def test_another_chooses_between_the_two_cards_of_the_armor() -> None:
    table = drawing(*fillers(3), card="picts saxons", relics={"lancelots_armor": 0}, over=["lancelot"])
    play(table, "draw_black")
    step = table.leave(0)
    (replaced,) = seen(step, events.DrawerReplaced, 1)
    assert replaced.cards == (Card.PICTS, Card.SAXONS)
    assert state_of(table).relics[ARMOR] == -1
    step = play(table, "resolve:saxons")
    assert seen(step, events.BlackCardBuried, 1) == [events.BlackCardBuried(0, Card.PICTS, rule="R9.3")]
    assert seen(step, events.BlackCardBuried, 2) == [events.BlackCardBuried(0, rule="R9.3")]
    assert table.view(1).game.private.known_bottom == (Card.PICTS,)
    assert table.view(2).game.private.known_bottom == ()
    assert (state_of(table).war(Place.PICT_WAR).warriors, state_of(table).war(Place.SAXON_WAR).warriors) == (0, 1)


@pytest.mark.rule("R20.7", "B8", "R9.3")
def test_further_draws_of_morgan_are_made_without_the_drawer() -> None:
    """They are still the drawer's: the armor of another does not work, and who chooses sees the card first."""
    table = drawing(
        *fillers(3),
        card="morgan_three_draws mercenaries black_knight_1 saxons despair",
        relics={"lancelots_armor": 1},
        over=["lancelot"],
    )
    play(table, "draw_black")
    assert asks(table) == ((0,), "mercenaries")
    table.leave(0)
    step = play(table, "war:pict_war")
    assert seen(step, events.BlackCardsDrawn, 1)[0].cards == (Card.BLACK_KNIGHT_1,)
    assert seen(step, events.BlackCardsDrawn, 0)[0].cards == ()
    assert asks(table) == ((1,), "lay_black_card")
    play(table, "face_up")
    state = state_of(table)
    assert (state.war(Place.PICT_WAR).warriors, state.war(Place.SAXON_WAR).warriors, len(state.black_knight.black)) == (
        1,
        1,
        1,
    )
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("R20.7")
def test_a_drawer_leaves_while_others_are_asked_and_the_card_is_resolved() -> None:
    table = drawing(knight("arthur"), knight("kay", "merlin*3"), *fillers(2, "arthur", "kay"), card="mordred")
    play(table, "draw_black")
    assert asks(table) == ((1,), "pledge_merlins")
    table.leave(0)
    play(table, "pass")
    assert asks(table) == ((1,), "mordred")
    play(table, "war:pict_war")
    assert (state_of(table).war(Place.PICT_WAR).mordred, state_of(table).war(Place.PICT_WAR).warriors) == (True, 1)
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("R20.7", "R16.1")
def test_the_game_ends_within_a_card_whose_drawer_was_the_last_loyal_knight() -> None:
    table = drawing(*fillers(2), knight("kay", traitor=True), card="black_knight_1")
    table.leave(1)
    play(table, "draw_black")
    table.leave(0)
    assert table.outcome is not None
    assert table.outcome.ending == "all_dead"
    assert list(CAMELOT.faults(game_of(table))) == []


# Cards that are shared


def won_with(*there: dict[str, Any]) -> Table:
    """Arthur is about to win the Pict war, whose four cards those on it share."""
    return situation(
        knight("arthur", "fight_5", place="pict_war"),
        *there,
        pict_war={"run": 4},
        phase="heroic",
        white_top="fight_1 fight_2 fight_3 fight_4",
    )


@pytest.mark.rule("R20.7", "R2.10")
def test_a_sharers_part_goes_to_the_others() -> None:
    table = won_with(knight("kay", place="pict_war"), knight("gawain", place="pict_war"))
    play(table, "fight:pict_war:fight_5", "give:1", "give:1")
    table.leave(1)
    assert asks(table) == ((0,), "propose_share")
    assert offered(table, 0) == ["give:0", "give:2", "deal_at_random"]
    assert table.view(0).game.pool.sharers == (0, 2)
    play(table, "give:2", "give:2", "give:0", "give:0", "accept")
    assert hand_of(table, 0) == ["fight_3", "fight_4"]
    assert hand_of(table, 2) == ["fight_1", "fight_2"]
    assert [knight_of(table, seat).place for seat in range(3)] == [Place.CAMELOT, Place.NOWHERE, Place.CAMELOT]


@pytest.mark.rule("R20.7", "R2.10")
@pytest.mark.parametrize("leaver", [0, 1, 2])
def test_a_proposal_is_void_when_a_sharer_leaves(leaver: int) -> None:
    table = won_with(knight("kay", place="pict_war"), knight("gawain", place="pict_war"))
    play(table, "fight:pict_war:fight_5", "give:0", "give:1", "give:2", "give:2")
    assert asks(table) == ((1, 2), "accept_share")
    step = table.leave(leaver)
    assert seen(step, events.ProposalAnswered) == []
    proposer = 1 if leaver == 0 else 0
    assert asks(table) == ((proposer,), "propose_share")
    play(table, "deal_at_random")
    others = [seat for seat in range(3) if seat != leaver]
    assert [len(hand_of(table, seat)) for seat in others] == [2, 2]


@pytest.mark.rule("R20.7", "R2.10")
def test_the_only_sharer_left_takes_all() -> None:
    table = won_with(knight("kay", place="pict_war"), knight("gawain"))
    play(table, "fight:pict_war:fight_5", "give:1")
    table.leave(1)
    assert hand_of(table, 0) == ["fight_1", "fight_2", "fight_3", "fight_4"]
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("R20.7", "R2.10")
def test_a_leaver_offers_nothing_at_the_round_table() -> None:
    table = Table.new(CAMELOT, 4, {}, Seed.fixed(3))[0]
    first = state_of(table).active
    gone = (first + 1) % 4
    pick(table, gone, offered(table, gone)[0])
    table.leave(gone)
    table.leave(first)
    left = [seat for seat in range(4) if seat not in (first, gone)]
    assert sorted(table.asked) == left
    for seat in left:
        step = pick(table, seat, offered(table, seat)[0])
    assert sorted(seat for seat, _ in seen(step, events.CardsOffered)[0].cards) == left
    second = (first + 2) % 4
    assert asks(table) == ((second,), "propose_share")
    play(table, "deal_at_random")
    assert (state_of(table).active, table.asked) == (second, (second,))


@pytest.mark.rule("R20.2", "R20.7", "R10.8")
def test_the_relic_of_a_winner_who_leaves_is_lost() -> None:
    table = situation(
        knight("arthur", "lady_of_the_lake"),
        knight("kay", place="excalibur"),
        knight("gawain", place="excalibur"),
        excalibur=9,
        phase="heroic",
    )
    play(table, "play:lady_of_the_lake")
    assert table.asked == (1,)
    table.leave(0)
    step = play(table, "deal_at_random")
    assert seen(step, events.RelicWon) == []
    assert seen(step, events.RelicLost) == [events.RelicLost(Relic.EXCALIBUR, rule="R20.2")]
    assert state_of(table).white_swords == 2
    assert asks(table) == ((1,), "progression_of_evil")


# The unmasked traitor


def taunting(*knights: dict[str, Any]) -> Table:
    unmasked = knight("arthur", traitor=True, shown=True, standing="unmasked", life=0, place="nowhere")
    return situation(unmasked, *knights, phase="traitor")


@pytest.mark.rule("R20.7", "R15.2")
def test_an_unmasked_traitor_leaves_and_takes_no_more_turns() -> None:
    table = taunting(knight("kay", "grail"), knight("gawain", "grail"))
    assert asks(table) == ((0,), "taunt")
    table.leave(0)
    assert asks(table) == ((1,), "progression_of_evil")
    assert hand_of(table, 1) == ["grail"]
    for seat in (1, 2):
        assert asks(table) == ((seat,), "progression_of_evil")
        play(table, "add_engine", "move:excalibur", "end_turn")
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("R20.7", "R15.2")
def test_an_unmasked_traitor_leaves_before_his_evil_choice_or_over_his_card() -> None:
    table = taunting(knight("kay"), knight("gawain"))
    assert asks(table) == ((0,), "traitors_evil")
    table.leave(0)
    assert (asks(table), state_of(table).engines) == (((1,), "progression_of_evil"), 0)

    table = taunting(knight("kay"), knight("gawain"))
    table = changed(table, lambda state: state.black_pile.append(Card.BLACK_KNIGHT_1))
    play(table, "draw_black")
    table.leave(0)
    assert asks(table) == ((1,), "lay_black_card")


@pytest.mark.rule("R20.7", "R15.2", "E95")
def test_who_could_be_taunted_leaves() -> None:
    table = taunting(knight("kay", "grail"), knight("gawain", "grail"))
    table.leave(1)
    assert offered(table, 0) == ["taunt:2"]
    table = taunting(knight("kay", "grail"), knight("gawain"))
    table.leave(1)
    assert asks(table) == ((0,), "traitors_evil")


# Everywhere


KEYS = set().union(
    *(
        re.findall(r'\b(?:ask|ask_several|ask_drawer|question)\(\s*[^"()\[\]]*"(\w+)"', source.read_text())
        for source in Path(inspect.getfile(events)).parent.glob("*.py")
    )
)
"""What the rules ask, by the keys of their questions."""


def eventful(seed: int) -> Table:
    """Six at a table where nearly everything can come to pass within a round."""
    return situation(
        knight("none", "fight_5 messenger convocation fight_1 grail", life=2, place="pict_war"),
        knight("none", "merlin*3 fight_4 piety heroism", life=1, place="pict_war"),
        knight("kay", "fight_3 fight_2 reinforcements merlin", place="dragon"),
        knight("arthur", "clairvoyance fate fight_5 fight_3", place="dragon"),
        knight("percival", "fight_1*3 merlin"),
        knight("gawain", traitor=True, shown=True, standing="unmasked", life=0, place="nowhere"),
        active=seed % 6,
        phase="traitor" if seed % 6 == 5 else "heroic" if seed % 2 else "evil",
        black_top=EVENTS[seed % len(EVENTS)],
        pict_war={"run": 4, "warriors": 3},
        saxon_war={"warriors": 3},
        dragon={
            "white": [["fight_5"] * 2, ["fight_3"] * 2, ["fight_4"] * 2],
            "black": laid("lancelot_dragon_1_5 lancelot_dragon_3_7*3"),
        },
        over=["lancelot", "excalibur", "grail"],
        relics={"excalibur": 2, "lancelots_armor": 4, "holy_grail": 3} if seed % 3 else {"excalibur": 0},
        engines=4,
        white_swords=3,
        seed=seed,
    )


EVENTS = (
    "morgan_three_draws morgan_wounds mercenaries black_knight_7",
    "mordred picts morgan_two_lives saxons",
    "morgan_three_cards vivien lancelot_dragon_5_9 mercenaries",
    "lancelot_dragon_5_9 morgan_wounds morgan_three_draws mordred",
    "black_knight_1 mercenaries morgan_two_lives morgan_three_cards",
)


@pytest.mark.rule("R20.2", "R20.7")
def test_a_seat_may_leave_at_every_question_that_the_rules_ask() -> None:
    random = Random(1)
    left: Counter[str] = Counter()
    for number in range(60):
        table = eventful(number) if number % 6 else Table.new(CAMELOT, 4, {"squires": "true"}, Seed.fixed(number))[0]
        for _, move in zip(range(60), moves(table, random), strict=False):
            for seat in table.asked:
                question = table.question(seat)
                assert question is not None
                if left[question.key] < 2:
                    left[question.key] += 1
                    leave_and_play_on(table, random)
            move.apply(table)
    assert set(left) == KEYS
