"""Draw piles and discards: E107 and E109, and the rules of section 17."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.camelot import events
from engine.camelot.pieces import Card
from tests.unit.camelot.situations import (
    fillers,
    hand_of,
    knight,
    knight_of,
    names,
    pick,
    play,
    seen,
    situation,
    state_of,
)


@pytest.mark.rule("E107", "R17.1", "R17.2")
def test_e107_a_draw_goes_on_from_the_new_pile() -> None:
    table = situation(*fillers(3), phase="heroic", white_top="grail", white_pile_size=1, black_pile_size=10)
    step = play(table, "draw_white")
    state = state_of(table)
    assert seen(step, events.PilesReshuffled) == [events.PilesReshuffled(83, 76, rule="R17.1")]
    assert "grail" in hand_of(table, 0)
    assert len(hand_of(table, 0)) == 2
    assert (len(state.white_pile), len(state.white_discards)) == (82, 0)
    assert (len(state.black_pile), len(state.black_discards)) == (76, 0)


@pytest.mark.rule("R17.1")
def test_an_emptied_black_pile_renews_both_as_well() -> None:
    table = situation(*fillers(3), black_top="picts", black_pile_size=1, white_pile_size=30)
    step = play(table, "draw_black")
    state = state_of(table)
    assert seen(step, events.PilesReshuffled) == [events.PilesReshuffled(84, 75, rule="R17.1")]
    assert (len(state.white_pile), len(state.white_discards)) == (84, 0)
    assert (len(state.black_pile), names(state.black_discards)) == (75, ["picts"])


@pytest.mark.rule("R17.1")
def test_the_last_card_of_a_pile_renews_it_at_once() -> None:
    table = situation(*fillers(3), phase="heroic", white_pile_size=2)
    play(table, "draw_white")
    assert (len(state_of(table).white_pile), len(state_of(table).white_discards)) == (82, 0)


@pytest.mark.rule("R17.2")
def test_cards_in_hands_on_the_board_and_in_play_stay_where_they_are() -> None:
    table = situation(
        knight("arthur", "merlin*2"),
        *fillers(2, "arthur"),
        phase="heroic",
        white_pile_size=2,
        black_pile_size=5,
        vivien=True,
        mists=1,
        grail=["grail", "grail", "", "", "", "", "despair"],
        black_knight={"white": [["fight_3"]], "black": [{"card": "black_knight_7", "face_down": True, "seen": [1]}]},
        pict_war={"run": 3, "mordred": True},
        heroism="dragon",
        over=["lancelot"],
    )
    play(table, "draw_white")
    state = state_of(table)
    assert len(state.black_pile) == 76 - 5
    assert len(state.white_pile) == 84 - 2 - 2 - 2 - 1 - 3 - 1
    gone = {Card.VIVIEN, Card.MISTS_OF_AVALON, Card.BLACK_KNIGHT_7, Card.MORDRED}
    assert not gone & set(map(Card, state.black_pile))
    assert Counter(state.white_pile)[Card.HEROISM] == 0


@pytest.mark.rule("R17.2", "B8")
def test_a_card_being_resolved_is_not_shuffled_in() -> None:
    table = situation(*fillers(3), black_top="morgan_three_draws picts", black_pile_size=2)
    step = play(table, "draw_black")
    assert seen(step, events.PilesReshuffled)[0] == events.PilesReshuffled(84, 74, rule="R17.1")
    assert Card.MORGAN_THREE_DRAWS not in state_of(table).black_pile


@pytest.mark.rule("R17.3")
def test_a_black_draw_that_finds_nothing_is_an_engine() -> None:
    table = situation(*fillers(3))
    state_of(table).black_pile.clear()
    state_of(table).black_discards.clear()
    play(table, "draw_black")
    assert state_of(table).engines == 1


@pytest.mark.rule("R17.4", "R2.11")
def test_of_the_discards_only_the_number_is_seen() -> None:
    table = situation(knight("arthur", "fight_1"), *fillers(2, "arthur"), white_pile_size=60, black_pile_size=70)
    for viewer in (0, 1, None):
        view = table.view(viewer).game
        assert (view.white_discards, view.black_discards) == (23, 6)
        assert (view.white_pile, view.black_pile) == (60, 70)


@pytest.mark.rule("E109", "R17.5")
def test_e109_a_reshuffle_ends_what_clairvoyance_arranged() -> None:
    table = situation(
        knight("arthur", "clairvoyance"),
        *fillers(2, "arthur"),
        phase="heroic",
        black_top="picts saxons despair mordred guinevere",
        black_pile_size=20,
        white_pile_size=2,
    )
    play(table, "play:clairvoyance")
    pick(table, 0, "card:guinevere", "card:despair", "card:picts", "card:mordred", "card:saxons")
    arranged = (Card.GUINEVERE, Card.DESPAIR, Card.PICTS, Card.MORDRED, Card.SAXONS)
    assert table.view(0).game.private.known_top == arranged
    play(table, "sacrifice")
    step = play(table, "draw_white")
    assert seen(step, events.PilesReshuffled) == [events.PilesReshuffled(82, 76, rule="R17.1")]
    assert table.view(0).game.private.known_top == ()
    top = tuple(map(Card, reversed(state_of(table).black_pile[-5:])))
    assert top != arranged


@pytest.mark.rule("R17.5", "R9.3")
def test_a_reshuffle_ends_what_the_armor_buried() -> None:
    table = situation(
        *fillers(3), black_top="picts saxons", black_pile_size=20, white_pile_size=2, relics={"lancelots_armor": 0}
    )
    play(table, "draw_black", "resolve:picts")
    assert table.view(0).game.private.known_bottom == (Card.SAXONS,)
    play(table, "draw_white")
    assert table.view(0).game.private.known_bottom == ()


@pytest.mark.rule("R17.5", "W4", "R14.6")
def test_clairvoyance_ends_what_another_knight_knew_of_the_order() -> None:
    table = situation(
        knight("percival"),
        knight("arthur", "clairvoyance"),
        knight("kay"),
        black_top="picts saxons despair mordred guinevere",
    )
    play(table, "peek", "add_engine", "draw_white", "end_turn")
    assert table.view(0).game.private.known_top == (Card.PICTS,)
    play(table, "lose_life", "play:clairvoyance")
    pick(table, 1, "card:saxons", "card:picts", "card:despair", "card:mordred", "card:guinevere")
    assert table.view(0).game.private.known_top == ()


@pytest.mark.rule("R14.6", "R18.3", "R5.3")
def test_who_looked_at_a_card_still_knows_it_when_another_lays_it_face_down() -> None:
    table = situation(knight("percival"), knight("arthur"), knight("kay"), black_top="black_knight_5")
    play(table, "peek", "add_engine", "draw_white", "end_turn", "draw_black")
    step = play(table, "face_down")
    known = {viewer: table.view(viewer).game.combats[0].black[0].card for viewer in (0, 1, 2, None)}
    five, hidden = Card.BLACK_KNIGHT_5, Card.UNKNOWN
    assert known == {0: five, 1: five, 2: hidden, None: hidden}
    told = {viewer: seen(step, events.BlackCardPlaced, viewer)[0].card for viewer in (0, 1, 2, None)}
    assert told == known


@pytest.mark.rule("R9.3", "R18.3")
def test_who_buried_a_card_knows_it_when_it_comes_up_from_the_bottom() -> None:
    table = situation(*fillers(3), black_top="picts black_knight_7", black_pile_size=2, relics={"lancelots_armor": 0})
    state_of(table).black_discards.clear()
    play(table, "draw_black", "resolve:picts", "draw_white", "end_turn", "draw_black", "face_down")
    known = [table.view(viewer).game.combats[0].black[0].card for viewer in (0, 1, 2, None)]
    assert known == [Card.BLACK_KNIGHT_7, Card.BLACK_KNIGHT_7, Card.UNKNOWN, Card.UNKNOWN]


@pytest.mark.rule("R17.7", "W11")
def test_knights_draw_clockwise_from_the_player() -> None:
    table = situation(
        *fillers(2),
        knight("galahad", "reinforcements"),
        knight("kay"),
        active=2,
        phase="heroic",
        white_top="fight_1 fight_2 fight_3",
    )
    step = play(table, "play:reinforcements", "for_others")
    assert [event.seat for event in seen(step, events.WhiteCardsDrawn)] == [3, 0, 1]
    assert [hand_of(table, seat) for seat in (3, 0, 1)] == [["fight_1"], ["fight_2"], ["fight_3"]]


@pytest.mark.rule("R17.7", "W6")
def test_the_player_himself_draws_first_where_he_takes_part() -> None:
    table = situation(
        *fillers(2),
        knight("galahad", "fate"),
        knight("kay"),
        active=2,
        phase="heroic",
        white_top="fight_1 fight_2 fight_3 fight_4",
    )
    step = play(table, "play:fate")
    assert [event.seat for event in seen(step, events.WhiteCardsDrawn)] == [2, 3, 0, 1]
    assert [hand_of(table, seat) for seat in range(4)] == [["fight_3"], ["fight_4"], ["fight_1"], ["fight_2"]]


@pytest.mark.rule("R17.7", "B10")
def test_volunteers_are_asked_clockwise_from_the_drawer() -> None:
    three = "grail*3"
    table = situation(
        knight("arthur", three), knight("gawain", three), knight("kay", three), active=1, black_top="morgan_three_cards"
    )
    play(table, "draw_black")
    for seat in range(3):
        pick(table, seat, "pass")
    for seat in (1, 2, 0):
        assert table.asked == (seat,)
        play(table, "pass")
    assert table.asked == (1, 2, 0)
    assert knight_of(table, 0).life == 4
