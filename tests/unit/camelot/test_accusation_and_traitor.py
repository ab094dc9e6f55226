"""Accusations and the unmasked traitor: E87 to E97, and the rules of sections 14A and 15."""

from __future__ import annotations

from typing import Any

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


def unmasked(coat: str) -> dict[str, Any]:
    return knight(coat, life=0, standing="unmasked", place="nowhere", traitor=True, shown=True)


# Accusing


@pytest.mark.rule("E87", "R14A.1")
@pytest.mark.parametrize(
    ("engines", "white", "black", "allowed"),
    [(5, 3, 2, False), (6, 0, 0, True), (0, 6, 0, True), (0, 0, 6, True), (0, 4, 2, True), (5, 0, 0, False)],
)
def test_e87_an_accusation_needs_six_engines_or_six_swords(engines: int, white: int, black: int, allowed: bool) -> None:
    table = situation(*fillers(3), phase="heroic", engines=engines, white_swords=white, black_swords=black)
    accusations = [option for option in offered(table, 0) if option.startswith("accuse:")]
    assert accusations == (["accuse:1", "accuse:2"] if allowed else [])
    if not allowed:
        assert refusal(table, 0, "accuse:1") == (NOT_OFFERED, "R14A.1")


@pytest.mark.rule("E89", "R14A.2", "R14A.4")
def test_e89_a_wrong_accusation_without_white_swords_only_uses_up_the_right() -> None:
    table = situation(*fillers(3), phase="heroic", engines=6)
    step = play(table, "accuse:1")
    assert (state_of(table).white_swords, state_of(table).black_swords) == (0, 0)
    assert seen(step, events.SwordsTurned) == []
    play(table, "end_turn")
    for _ in range(2):
        play(table, "add_engine", "draw_white", "end_turn")
    play(table, "add_engine")
    assert refusal(table, 0, "accuse:2") == (NOT_OFFERED, "R14A.2")


@pytest.mark.rule("E90", "R14A.4", "R14A.7", "R16.1")
def test_e90_a_wrong_accusation_can_turn_the_seventh_black_sword() -> None:
    table = situation(
        knight("arthur"), knight("gawain"), knight("kay", traitor=True), phase="heroic", white_swords=1, black_swords=6
    )
    play(table, "accuse:1")
    assert (state_of(table).white_swords, state_of(table).black_swords) == (0, 7)
    assert table.outcome is not None
    assert (table.outcome.ending, table.outcome.rule, table.outcome.winners) == ("black_swords", "R16.1", (2,))


@pytest.mark.rule("E91", "R14A.5", "R14A.7", "R16.3")
def test_e91_finding_the_traitor_can_lay_the_twelfth_sword() -> None:
    table = situation(
        knight("arthur"),
        knight("gawain", traitor=True),
        *fillers(1, "arthur", "gawain"),
        phase="heroic",
        white_swords=6,
        black_swords=5,
    )
    step = play(table, "accuse:1")
    assert (state_of(table).white_swords, state_of(table).black_swords) == (7, 5)
    assert seen(step, events.SwordsTurned) == []
    assert table.outcome is not None
    assert (table.outcome.ending, table.outcome.winners) == ("twelfth_sword_won", (0, 2))


@pytest.mark.rule("E93", "R14A.3", "R2.8")
@pytest.mark.parametrize("traitor", [False, True])
def test_e93_a_card_nobody_has_seen_is_shown_to_all(traitor: bool) -> None:
    table = situation(
        knight("arthur"),
        knight("gawain", traitor=traitor),
        knight("kay"),
        phase="heroic",
        engines=6,
        white_swords=2,
        black_swords=2,
    )
    assert table.view(1).game.knights[1].traitor is None
    step = play(table, "accuse:1")
    assert seen(step, events.LoyaltyShown) == [events.LoyaltyShown(1, traitor, rule="R14A.3")]
    for viewer in (0, 1, 2, None):
        assert table.view(viewer).game.knights[1].traitor is traitor


@pytest.mark.rule("R14A.2")
def test_only_living_knights_of_hidden_loyalty_are_accused_and_from_anywhere() -> None:
    table = situation(
        knight("arthur", place="grail"),
        knight("gawain", shown=True),
        knight("kay", life=0, standing="dead", place="nowhere"),
        unmasked("galahad"),
        knight("tristan", place="dragon"),
        phase="heroic",
        engines=6,
        over=["lancelot"],
    )
    assert [option for option in offered(table, 0) if option.startswith("accuse:")] == ["accuse:4"]
    for seat in (0, 1, 2, 3):
        assert refusal(table, 0, f"accuse:{seat}") == (NOT_OFFERED, "R14A.2")


@pytest.mark.rule("R13.11", "R14A.2")
def test_a_fallen_knight_is_not_accused() -> None:
    table = situation(knight("arthur"), knight("gawain", life=0), knight("kay"), phase="heroic", engines=6)
    assert refusal(table, 0, "accuse:1") == (NOT_OFFERED, "R13.11")


@pytest.mark.rule("R14A.4")
def test_accusing_a_loyal_knight_turns_a_white_sword_and_his_card_stays_up() -> None:
    table = situation(*fillers(3), phase="heroic", white_swords=4, black_swords=2)
    step = play(table, "accuse:2")
    assert (state_of(table).white_swords, state_of(table).black_swords) == (3, 3)
    assert seen(step, events.Accused) == [events.Accused(0, 2, rule="R14A.2")]
    play(table, "end_turn", "add_engine", "draw_white")
    shown = table.view(None).game.knights[2]
    assert (shown.loyalty_shown, shown.traitor, shown.standing) == (True, False, Standing.ALIVE)
    assert [option for option in offered(table, 1) if option.startswith("accuse:")] == []


@pytest.mark.rule("R14A.5", "R15.6")
def test_accusing_the_traitor_lays_a_new_white_sword_and_unmasks_him() -> None:
    table = situation(
        knight("arthur"), knight("gawain", traitor=True), *fillers(2, "arthur", "gawain"), phase="heroic", engines=6
    )
    step = play(table, "accuse:1")
    assert (state_of(table).white_swords, state_of(table).black_swords) == (1, 0)
    assert seen(step, events.SwordsLaid) == [events.SwordsLaid(1, 0, rule="R14A.5")]
    assert knight_of(table, 1).standing is Standing.UNMASKED
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("R14A.6")
def test_the_traitor_may_accuse_falsely() -> None:
    table = situation(knight("arthur", traitor=True), *fillers(3, "arthur"), phase="heroic", white_swords=6)
    play(table, "accuse:3")
    assert (state_of(table).white_swords, state_of(table).black_swords) == (5, 1)
    assert not table.view(None).game.knights[0].loyalty_shown


# What the unmasked traitor loses


@pytest.mark.rule("E94", "R15.1", "R6.10", "R9.6")
def test_e94_the_unmasked_traitor_loses_relic_hand_and_the_cards_of_his_solo_quest() -> None:
    table = situation(
        knight("arthur"),
        knight("gawain", "fight_1*2 grail merlin piety", place="lancelot", traitor=True),
        *fillers(2, "arthur", "gawain"),
        phase="heroic",
        engines=6,
        lancelot={"white": [["fight_5", "fight_5"], ["fight_2"]], "black": laid("lancelot_dragon_1_5")},
        relics={"excalibur": 1},
    )
    step = play(table, "accuse:1")
    state = state_of(table)
    assert state.relics[Relic.EXCALIBUR] == NOBODY
    assert hand_of(table, 1) == []
    assert [names(group) for group in state.lancelot.white] == [[], []]
    assert len(state.lancelot.black) == 1
    assert sorted(names(state.white_discards)) == sorted(
        ["fight_1", "fight_1", "grail", "merlin", "piety", "fight_5", "fight_5", "fight_2"]
    )
    assert (knight_of(table, 1).place, knight_of(table, 1).life) == (Place.NOWHERE, 0)
    assert seen(step, events.TraitorUnmasked) == [events.TraitorUnmasked(1, 5, rule="R14A.5")]
    play(table, "sacrifice")
    assert "move:lancelot" in offered(table, 0)


@pytest.mark.rule("R15.1")
def test_an_unmasked_traitor_receives_no_cards() -> None:
    table = situation(knight("arthur", "messenger grail"), unmasked("gawain"), knight("kay", "grail"), phase="heroic")
    assert refusal(table, 0, "exchange:1") == (NOT_OFFERED, "R14.1")
    play(table, "play:messenger")
    assert offered(table, 0) == ["knight:2"]


@pytest.mark.rule("R15.1", "R7.4")
def test_an_unmasked_traitor_is_not_asked_for_merlins_nor_hurt_by_morgan() -> None:
    table = situation(
        knight("arthur", "merlin*2"), unmasked("gawain"), knight("kay", "grail"), black_top="morgan_wounds"
    )
    play(table, "draw_black")
    assert asks(table) == ((0, 2), "pledge_merlins")
    pick(table, 0, "pass")
    pick(table, 2, "pass")
    assert [knight_of(table, seat).life for seat in range(3)] == [3, 0, 3]
    assert knight_of(table, 1).standing is Standing.UNMASKED


@pytest.mark.rule("R15.1")
def test_an_unmasked_traitor_has_no_power() -> None:
    table = situation(unmasked("percival"), *fillers(2, "percival"), phase="traitor")
    assert asks(table) == ((0,), "traitors_evil")


# His turns


@pytest.mark.rule("R15.2", "R18.3")
def test_the_taunt_discards_a_random_card_that_only_its_owner_sees() -> None:
    table = situation(
        unmasked("gawain"),
        knight("arthur", "fight_1 grail"),
        knight("kay"),
        knight("tristan", "piety"),
        phase="traitor",
    )
    assert (asks(table), offered(table, 0)) == (((0,), "taunt"), ["taunt:1", "taunt:3"])
    step = play(table, "taunt:1")
    (left,) = hand_of(table, 1)
    (gone,) = {"fight_1", "grail"} - {left}
    assert names(state_of(table).white_discards) == [gone]
    hidden = events.CardsDiscarded(1, 1, rule="R15.2")
    for viewer in (0, 2, 3, None):
        assert seen(step, events.CardsDiscarded, viewer) == [hidden]
    assert seen(step, events.CardsDiscarded, 1) == [events.CardsDiscarded(1, 1, (Card[gone.upper()],), rule="R15.2")]


@pytest.mark.rule("R15.2")
def test_after_the_taunt_he_draws_or_adds_an_engine_and_his_turn_is_over() -> None:
    table = situation(unmasked("gawain"), knight("arthur", "grail"), knight("kay"), phase="traitor", engines=2)
    play(table, "taunt:1")
    assert offered(table, 0) == ["draw_black", "add_engine"]
    assert refusal(table, 0, "lose_life")[0] is NOT_OFFERED
    play(table, "add_engine")
    assert state_of(table).engines == 3
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("E95", "R15.2")
def test_e95_nobody_has_a_card_to_take() -> None:
    table = situation(unmasked("gawain"), *fillers(2, "gawain"), phase="traitor")
    assert (asks(table), offered(table, 0)) == (((0,), "traitors_evil"), ["draw_black", "add_engine"])


@pytest.mark.rule("R20.10", "R15.2")
def test_by_option_the_traitor_takes_no_card() -> None:
    table = situation(
        unmasked("gawain"),
        knight("arthur", "grail"),
        knight("kay"),
        phase="traitor",
        options={"unmasked_traitor_steals_card": "false"},
    )
    assert asks(table) == ((0,), "traitors_evil")


@pytest.mark.rule("E97", "R15.3")
def test_e97_his_face_down_card_earns_him_nothing() -> None:
    table = situation(unmasked("gawain"), *fillers(2, "gawain"), phase="traitor", black_top="black_knight_5")
    white = len(state_of(table).white_pile)
    step = play(table, "draw_black", "face_down")
    assert len(state_of(table).white_pile) == white
    assert hand_of(table, 0) == []
    assert seen(step, events.WhiteCardsDrawn, 0) == []
    assert [card.face_down for card in state_of(table).black_knight.black] == [True]


@pytest.mark.rule("R15.3")
def test_he_chooses_the_war_for_mercenaries() -> None:
    table = situation(unmasked("gawain"), *fillers(2, "gawain"), phase="traitor", black_top="mercenaries")
    play(table, "draw_black", "war:saxon_war")
    assert (state_of(table).pict_war.warriors, state_of(table).saxon_war.warriors) == (0, 1)


@pytest.mark.rule("R15.3", "R7.1")
def test_knights_cancel_his_special_cards_with_merlins() -> None:
    table = situation(
        unmasked("gawain"),
        knight("arthur", "merlin*2"),
        knight("kay", "merlin*2"),
        phase="traitor",
        black_top="morgan_engines",
        options={"unmasked_traitor_steals_card": "false"},
    )
    play(table, "draw_black")
    pick(table, 1, "pledge:2")
    pick(table, 2, "pledge:1")
    assert state_of(table).engines == 0
    assert (hand_of(table, 1), hand_of(table, 2)) == ([], ["merlin"])


@pytest.mark.rule("R15.3", "B4")
def test_his_guinevere_calls_everybody_home_and_ends_his_turn() -> None:
    table = situation(
        unmasked("gawain"), knight("arthur", place="grail"), knight("kay"), phase="traitor", black_top="guinevere"
    )
    play(table, "draw_black")
    assert knight_of(table, 1).place is Place.CAMELOT
    assert knight_of(table, 0).place is Place.NOWHERE
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("R15.3", "R9.2")
def test_excalibur_stops_his_draw_too() -> None:
    table = situation(
        unmasked("gawain"), *fillers(2, "gawain"), phase="traitor", black_top="picts", relics={"excalibur": 2}
    )
    play(table, "draw_black")
    assert asks(table) == ((2,), "excalibur")
    play(table, "give_up_excalibur")
    assert state_of(table).pict_war.warriors == 0


@pytest.mark.rule("R15.4", "R3.1")
def test_knights_keep_their_own_evil_phase() -> None:
    table = situation(knight("arthur"), unmasked("gawain"), knight("kay"))
    assert offered(table, 0) == ["draw_black", "add_engine", "lose_life"]


# Revealing himself


@pytest.mark.rule("R15.6", "R15.7")
def test_the_traitor_may_reveal_himself_before_his_action_and_his_turn_is_over() -> None:
    table = situation(knight("arthur", "grail", traitor=True), *fillers(3, "arthur"), phase="heroic")
    play(table, "reveal")
    assert knight_of(table, 0).standing is Standing.UNMASKED
    assert hand_of(table, 0) == []
    assert state_of(table).white_swords == 0
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("R15.7")
def test_only_the_traitor_may_and_only_in_his_own_heroic_phase() -> None:
    loyal = situation(knight("arthur"), knight("gawain", traitor=True), *fillers(2, "arthur", "gawain"), phase="heroic")
    assert refusal(loyal, 0, "reveal") == (NOT_OFFERED, "R15.7")
    assert refusal(loyal, 1, "reveal")[0] is Reason.NOT_ASKED
    evil = situation(knight("arthur", traitor=True), *fillers(3, "arthur"))
    assert refusal(evil, 0, "reveal")[0] is NOT_OFFERED


@pytest.mark.rule("R15.7", "R2.8")
@pytest.mark.parametrize(("white", "known"), [(5, False), (6, True)])
def test_with_three_players_not_before_six_swords_lie(white: int, known: bool) -> None:
    table = situation(knight("arthur", traitor=True), *fillers(2, "arthur"), phase="heroic", white_swords=white)
    assert ("reveal" in offered(table, 0)) is known


@pytest.mark.rule("R15.6", "R20.10")
def test_by_option_the_traitor_may_not_reveal_himself() -> None:
    table = situation(
        knight("arthur", traitor=True),
        *fillers(3, "arthur"),
        phase="heroic",
        options={"traitor_voluntary_reveal": "false"},
    )
    assert refusal(table, 0, "reveal") == (NOT_OFFERED, "R15.6")


@pytest.mark.rule("R15.8")
def test_a_fallen_traitor_cannot_reveal_himself() -> None:
    table = situation(
        knight("arthur", life=1, traitor=True),
        *fillers(3, "arthur"),
        phase="heroic",
        turn={"actions": 1, "types": ["quest"]},
    )
    assert "reveal" in offered(table, 0)
    play(table, "sacrifice")
    assert refusal(table, 0, "reveal") == (NOT_OFFERED, "R15.8")


@pytest.mark.rule("R15.5", "R16.7")
def test_the_unmasked_traitor_turns_no_swords_at_the_end() -> None:
    table = situation(
        knight("arthur", "fight_5", place="pict_war"),
        unmasked("gawain"),
        knight("kay"),
        phase="heroic",
        pict_war={"run": 4},
        white_swords=6,
        black_swords=5,
    )
    step = play(table, "fight:pict_war:fight_5")
    assert seen(step, events.SwordsTurned) == []
    assert table.outcome is not None
    assert (table.outcome.ending, table.outcome.winners) == ("twelfth_sword_won", (0, 2))


@pytest.mark.rule("R15.5", "R16.7")
def test_the_unmasked_traitor_wins_when_the_loyal_knights_lose() -> None:
    table = situation(knight("arthur"), unmasked("gawain"), knight("kay"), engines=11)
    play(table, "add_engine")
    assert table.outcome is not None
    assert (table.outcome.ending, table.outcome.winners) == ("siege", (1,))
