"""Combat quests: E41 to E54, and the rules of sections 8 to 10 around them."""

from __future__ import annotations

import pytest

from engine.camelot import events
from engine.camelot.pieces import Card, Place
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

# Groups of equal cards


@pytest.mark.rule("E41", "R10.2", "R10.3")
def test_e41_a_value_fits_neither_its_full_group_nor_another() -> None:
    table = situation(
        knight("gawain", "fight_4 fight_2", place="black_knight"),
        *fillers(2, "gawain"),
        black_knight={"white": [["fight_4", "fight_4"], []]},
        phase="heroic",
    )
    assert refusal(table, 0, "fight:black_knight:fight_4:0") == (NOT_OFFERED, "R10.3")
    assert refusal(table, 0, "fight:black_knight:fight_4:1") == (NOT_OFFERED, "R10.3")
    assert "fight:black_knight:fight_2:1" in offered(table, 0)


@pytest.mark.rule("E42", "R10.3", "R10.4")
def test_e42_a_value_stays_in_its_group() -> None:
    table = situation(
        knight("gawain", "fight_5", place="lancelot"),
        *fillers(2, "gawain"),
        lancelot={"white": [["fight_5", "fight_5"], []]},
        phase="heroic",
    )
    assert refusal(table, 0, "fight:lancelot:fight_5:1") == (NOT_OFFERED, "R10.3")
    play(table, "fight:lancelot:fight_5:0")
    assert [names(group) for group in state_of(table).lancelot.white] == [["fight_5"] * 3, []]


@pytest.mark.rule("E43", "R10.2")
def test_e43_a_fourth_value_does_not_fit_the_dragon() -> None:
    table = situation(
        knight("gawain", "fight_2 fight_3", place="dragon"),
        *fillers(2, "gawain"),
        over=["lancelot"],
        dragon={"white": [["fight_5"], ["fight_4"], ["fight_3"]]},
        phase="heroic",
    )
    for group in range(3):
        assert refusal(table, 0, f"fight:dragon:fight_2:{group}") == (NOT_OFFERED, "R10.3")
    assert [option for option in offered(table, 0) if option.startswith("fight:")] == ["fight:dragon:fight_3:2"]


@pytest.mark.rule("R10.3", "R10.4", "R6.16")
def test_a_first_card_may_open_any_group() -> None:
    table = situation(knight("gawain", "fight_3", place="lancelot"), *fillers(2, "gawain"), phase="heroic")
    placings = [option for option in offered(table, 0) if option.startswith("fight:")]
    assert placings == ["fight:lancelot:fight_3:0", "fight:lancelot:fight_3:1"]
    play(table, placings[1])
    assert [names(group) for group in state_of(table).lancelot.white] == [[], ["fight_3"]]
    assert hand_of(table, 0) == []


@pytest.mark.rule("R10.4")
def test_two_equal_cards_in_lancelots_small_group_shut_out_a_third() -> None:
    table = situation(
        knight("gawain", "fight_3", place="lancelot"),
        *fillers(2, "gawain"),
        lancelot={"white": [[], ["fight_3", "fight_3"]]},
        phase="heroic",
    )
    assert not [option for option in offered(table, 0) if option.startswith("fight:")]


@pytest.mark.rule("W1", "R6.16", "R6.12")
def test_only_fight_cards_in_hand_are_played_and_only_where_the_knight_stands() -> None:
    table = situation(knight("gawain", "grail fight_1", place="black_knight"), *fillers(2, "gawain"), phase="heroic")
    assert refusal(table, 0, "fight:black_knight:fight_2:0") == (NOT_OFFERED, "W1")
    assert refusal(table, 0, "fight:black_knight:grail:0") == (NOT_OFFERED, "")
    assert refusal(table, 0, "fight:lancelot:fight_1:0") == (NOT_OFFERED, "R6.12")
    assert refusal(table, 0, "draw_white") == (NOT_OFFERED, "R6.12")


@pytest.mark.rule("R10.9", "R6.11")
def test_the_dragon_comes_after_lancelot_alone() -> None:
    table = situation(*fillers(3), phase="heroic")
    assert refusal(table, 0, "move:dragon") == (NOT_OFFERED, "R6.11")
    table = situation(*fillers(3), over=["lancelot"], phase="heroic")
    assert refusal(table, 0, "move:lancelot") == (NOT_OFFERED, "R6.11")
    assert "move:dragon" in offered(table, 0)


# The outcome


@pytest.mark.rule("R10.6", "R8.3")
def test_the_last_white_card_wins_the_tournament_which_restarts() -> None:
    table = situation(
        knight("gawain", "fight_1", place="black_knight"),
        *fillers(2, "gawain"),
        black_knight={"white": [["fight_2", "fight_2"], ["fight_1"]], "black": laid("black_knight_5")},
        phase="heroic",
    )
    step = play(table, "fight:black_knight:fight_1:1")
    (decided,) = seen(step, events.FightDecided)
    assert (decided.white, decided.evil, decided.won) == (6, 5, True)
    state = state_of(table)
    assert (state.white_swords, state.black_swords) == (1, 0)
    assert [each.life for each in state.knights] == [5, 4, 4]
    assert len(hand_of(table, 0)) == 3
    assert knight_of(table, 0).place is Place.CAMELOT
    assert names(state.black_discards) == ["black_knight_5"]
    assert len(state.white_discards) == 4
    assert (state.black_knight.white, state.black_knight.black) == ([bytearray(), bytearray()], [])
    play(table, "sacrifice", "move:black_knight")
    assert knight_of(table, 0).place is Place.BLACK_KNIGHT


@pytest.mark.rule("R16.8", "R8.3")
def test_a_tie_loses_the_tournament() -> None:
    table = situation(
        knight("gawain", "fight_1", place="black_knight"),
        *fillers(2, "gawain"),
        black_knight={"white": [["fight_2", "fight_2"], ["fight_1"]], "black": laid("black_knight_5 black_knight_1")},
        phase="heroic",
    )
    play(table, "fight:black_knight:fight_1:1")
    state = state_of(table)
    assert (state.white_swords, state.black_swords, state.engines) == (0, 1, 0)
    assert [each.life for each in state.knights] == [3, 4, 4]
    assert hand_of(table, 0) == []


@pytest.mark.rule("R8.3", "R10.6")
def test_lancelot_beaten_gives_armor_and_makes_way_for_the_dragon() -> None:
    table = situation(
        knight("gawain", "fight_1", place="lancelot"),
        *fillers(2, "gawain"),
        lancelot={"white": [["fight_3"] * 3, ["fight_1"]], "black": laid("lancelot_dragon_7_11 lancelot_dragon_3_7")},
        phase="heroic",
    )
    step = play(table, "fight:lancelot:fight_1:1")
    (decided,) = seen(step, events.FightDecided)
    assert (decided.white, decided.evil) == (11, 10)
    state = state_of(table)
    assert (state.white_swords, knight_of(table, 0).life, len(hand_of(table, 0))) == (1, 5, 4)
    assert state.relics[2] == 0
    play(table, "sacrifice")
    assert "move:dragon" in offered(table, 0)
    assert refusal(table, 0, "move:lancelot") == (NOT_OFFERED, "R6.11")


@pytest.mark.rule("R8.3", "R10.6")
def test_the_dragon_beaten_rewards_all_on_the_quest_and_leaves_play() -> None:
    table = situation(
        knight("gawain", "fight_5", place="dragon"),
        knight("kay", place="dragon"),
        knight("arthur"),
        over=["lancelot"],
        dragon={"white": [["fight_5"] * 2, ["fight_4"] * 3, ["fight_1"] * 3], "black": laid("lancelot_dragon_5_9*3")},
        phase="heroic",
    )
    (decided,) = seen(play(table, "fight:dragon:fight_5:0"), events.FightDecided)
    assert (decided.white, decided.evil) == (30, 27)
    play(table, "deal_at_random")
    state = state_of(table)
    assert (state.white_swords, state.black_swords, state.engines) == (2, 0, 0)
    assert [each.life for each in state.knights] == [6, 6, 4]
    assert [len(each.hand) for each in state.knights] == [4, 3, 0]
    assert [each.place for each in state.knights] == [Place.CAMELOT] * 3
    play(table, "sacrifice")
    for quest in ("lancelot", "dragon"):
        assert refusal(table, 0, f"move:{quest}") == (NOT_OFFERED, "R6.11")


@pytest.mark.rule("R8.3", "R16.8", "R10.6")
def test_the_dragon_lost_costs_two_lives_and_leaves_play() -> None:
    table = situation(
        knight("gawain"),
        knight("galahad", place="dragon"),
        knight("arthur"),
        over=["lancelot"],
        dragon={"white": [["fight_5"] * 3, ["fight_4"] * 2, ["fight_2"]], "black": laid("lancelot_dragon_1_5*4")},
        black_top="lancelot_dragon_5_9",
    )
    (decided,) = seen(play(table, "draw_black", "face_up"), events.FightDecided)
    assert (decided.white, decided.evil, decided.won) == (25, 29, False)
    state = state_of(table)
    assert (state.white_swords, state.black_swords, state.engines) == (0, 2, 0)
    assert [each.life for each in state.knights] == [4, 2, 4]
    assert refusal(table, 0, "move:dragon") == (NOT_OFFERED, "R6.11")


@pytest.mark.rule("E45", "R14.4")
def test_e45_kay_turns_a_tie_into_a_victory() -> None:
    table = situation(
        knight("kay", "fight_1*2", place="black_knight"),
        *fillers(2, "kay"),
        black_knight={"white": [["fight_5", "fight_5"], ["fight_1"]], "black": laid("black_knight_7 black_knight_5")},
        phase="heroic",
    )
    step = play(table, "fight:black_knight:fight_1:1")
    (revealed,) = seen(step, events.BlackCardsRevealed)
    assert sorted(revealed.cards) == [Card.BLACK_KNIGHT_5, Card.BLACK_KNIGHT_7]
    assert offered(table, 0) == ["pass", "card:fight_1"]
    (decided,) = seen(play(table, "card:fight_1"), events.FightDecided)
    assert (decided.white, decided.evil, decided.won) == (13, 12, True)
    assert state_of(table).white_swords == 1


@pytest.mark.rule("R14.4")
def test_kay_may_keep_his_card() -> None:
    table = situation(
        knight("kay", "fight_1*2 grail", place="black_knight"),
        *fillers(2, "kay"),
        black_knight={"white": [["fight_5", "fight_5"], ["fight_1"]], "black": laid("black_knight_7 black_knight_5")},
        phase="heroic",
    )
    play(table, "fight:black_knight:fight_1:1")
    assert refusal(table, 0, "card:grail") == (NOT_OFFERED, "R14.4")
    play(table, "pass")
    assert (state_of(table).white_swords, state_of(table).black_swords) == (0, 1)
    assert hand_of(table, 0) == ["fight_1", "grail"]


@pytest.mark.rule("E46", "R14.4")
def test_e46_kay_elsewhere_adds_nothing() -> None:
    table = situation(
        knight("gawain", "fight_1", place="black_knight"),
        knight("kay", "fight_5"),
        knight("arthur"),
        black_knight={"white": [["fight_5", "fight_5"], ["fight_1"]], "black": laid("black_knight_7 black_knight_5")},
        phase="heroic",
    )
    (decided,) = seen(play(table, "fight:black_knight:fight_1:1"), events.FightDecided)
    assert (decided.white, decided.evil, decided.won) == (12, 12, False)
    assert hand_of(table, 1) == ["fight_5"]


@pytest.mark.rule("E47", "R14.4")
def test_e47_kay_adds_a_card_out_of_turn() -> None:
    table = situation(
        knight("gawain"),
        knight("kay", "fight_5 fight_3", place="dragon"),
        knight("arthur"),
        over=["lancelot"],
        dragon={"white": [["fight_5"] * 3, ["fight_4"] * 2], "black": laid("lancelot_dragon_1_5*4")},
        black_top="lancelot_dragon_3_7",
    )
    play(table, "draw_black", "face_down")
    assert asks(table) == ((1,), "kay_power")
    assert offered(table, 1) == ["pass", "card:fight_3", "card:fight_5"]
    assert refusal(table, 1, "card:fight_3", "card:fight_5")[0] is Reason.TOO_MANY_PICKS
    (decided,) = seen(play(table, "card:fight_5"), events.FightDecided)
    assert (decided.white, decided.evil, decided.won) == (23 + 5, 20 + 7, True)
    assert state_of(table).white_swords == 2
    assert len(hand_of(table, 1)) == 1 + 7


@pytest.mark.rule("E49", "R9.2")
@pytest.mark.parametrize(("place", "white", "swords"), [("dragon", 31, 2), ("camelot", 30, 0)])
def test_e49_excalibur_adds_one_where_its_owner_stands(place: str, white: int, swords: int) -> None:
    table = situation(
        knight("gawain", "fight_1", place="dragon"),
        knight("arthur", place=place),
        knight("galahad"),
        over=["lancelot", "excalibur"],
        dragon={
            "white": [["fight_5"] * 3, ["fight_4"] * 3, ["fight_1"] * 2],
            "black": laid("lancelot_dragon_1_5*2 lancelot_dragon_5_9 lancelot_dragon_7_11"),
        },
        relics={"excalibur": 1},
        phase="heroic",
    )
    (decided,) = seen(play(table, "fight:dragon:fight_1:2"), events.FightDecided)
    assert (decided.white, decided.evil) == (white, 30)
    if swords:
        play(table, "deal_at_random")
    assert state_of(table).white_swords == swords


@pytest.mark.rule("E50", "R10.7", "R10.8", "R5.4")
@pytest.mark.parametrize(("option", "owner"), [("knight_present", 1), ("drawer", 0)])
def test_e50_three_white_cards_beat_five_black_ones(option: str, owner: int) -> None:
    table = situation(
        knight("gawain"),
        knight("arthur", place="lancelot"),
        knight("galahad"),
        options={"armor_when_black_card_ends_lancelot": option},
        lancelot={"white": [["fight_5"] * 3, []], "black": laid("lancelot_dragon_1_5*4")},
        black_top="lancelot_dragon_5_9",
    )
    (decided,) = seen(play(table, "draw_black", "face_up"), events.FightDecided)
    assert (decided.white, decided.evil, decided.won) == (15, 9, True)
    state = state_of(table)
    assert (state.white_swords, state.black_swords) == (1, 0)
    assert state.relics[2] == owner
    assert (knight_of(table, 1).life, len(hand_of(table, 1))) == (5, 4)
    assert (knight_of(table, 0).life, len(hand_of(table, 0))) == (4, 0)
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("E51", "R10.8", "R8.1")
def test_e51_an_empty_lancelot_quest_is_lost() -> None:
    table = situation(*fillers(3), lancelot={"black": laid("lancelot_dragon_1_5*4")}, black_top="lancelot_dragon_3_7")
    step = play(table, "draw_black", "face_up")
    state = state_of(table)
    assert (state.white_swords, state.black_swords) == (0, 1)
    assert [each.life for each in state.knights] == [4, 4, 4]
    assert [event.seat for event in seen(step, events.RelicLost)] == [-1]
    assert state.relics[2] == -1


@pytest.mark.rule("E53", "W3")
def test_e53_a_slot_freed_by_merlin_is_filled_again() -> None:
    table = situation(
        knight("gawain", "merlin", place="black_knight"),
        *fillers(2, "gawain"),
        black_knight={"black": laid("black_knight_1 black_knight_3 black_knight_5")},
        black_top="black_knight_7",
        phase="heroic",
    )
    play(table, "play:merlin", "remove:card:black_knight")
    assert names(state_of(table).black_discards) == ["black_knight_5"]
    play(table, "end_turn", "draw_black", "face_up")
    black = state_of(table).black_knight.black
    assert names(bytes(each.card for each in black)) == ["black_knight_1", "black_knight_3", "black_knight_7"]
    assert state_of(table).black_swords == 0


@pytest.mark.rule("W3", "R18.3")
def test_a_face_down_card_removed_by_merlin_goes_unseen() -> None:
    table = situation(
        knight("gawain", "merlin"),
        *fillers(2, "gawain"),
        black_knight={"black": [{"card": "black_knight_7", "face_down": True, "seen": [2]}]},
        phase="heroic",
    )
    (removed,) = seen(play(table, "play:merlin", "remove:card:black_knight"), events.BlackCardRemoved)
    assert removed.card is Card.UNKNOWN
    assert state_of(table).black_knight.black == []


@pytest.mark.rule("E54", "R5.10")
def test_e54_black_cards_are_revealed_without_order_or_author() -> None:
    orders = set()
    for seed in range(8):
        table = situation(
            *fillers(3),
            black_knight={
                "black": [
                    {"card": card, "face_down": True, "seen": [seat]}
                    for seat, card in enumerate(("black_knight_1", "black_knight_3", "black_knight_5"))
                ]
            },
            black_top="black_knight_7",
            seed=seed,
        )
        (revealed,) = seen(play(table, "draw_black", "face_down"), events.BlackCardsRevealed)
        assert sorted(revealed.cards) == [
            Card.BLACK_KNIGHT_1,
            Card.BLACK_KNIGHT_3,
            Card.BLACK_KNIGHT_5,
            Card.BLACK_KNIGHT_7,
        ]
        assert set(type(revealed).__struct_fields__) == {"rule", "place", "cards"}
        orders.add(revealed.cards)
    assert len(orders) > 1


# Rewards


@pytest.mark.rule("R2.10", "R8.3")
def test_reward_cards_go_as_the_sharers_agree() -> None:
    table = situation(
        knight("gawain", "fight_5", place="pict_war"),
        knight("arthur", place="pict_war"),
        knight("galahad"),
        pict_war={"run": 4},
        white_top="grail grail grail fight_1",
        phase="heroic",
    )
    step = play(table, "fight:pict_war:fight_5")
    cards = (Card.FIGHT_1, Card.GRAIL, Card.GRAIL, Card.GRAIL)
    for viewer, known in ((0, cards), (1, cards), (2, ()), (None, ())):
        assert [event.cards for event in seen(step, events.CardsPooled, viewer)] == [known]
        assert table.view(viewer).game.pool.cards == known
    assert offered(table, 0) == ["give:0", "give:1", "deal_at_random"]
    assert refusal(table, 0, "give:2") == (NOT_OFFERED, "R2.10")
    play(table, "give:0", "give:1", "give:1", "give:1")
    assert asks(table) == ((1,), "accept_share")
    play(table, "accept")
    assert [hand_of(table, seat) for seat in range(3)] == [["fight_1"], ["grail"] * 3, []]


@pytest.mark.rule("R2.10", "R8.3")
def test_refused_rewards_are_dealt_from_the_knight_who_ended_the_quest() -> None:
    table = situation(
        knight("gawain", place="dragon"),
        knight("arthur", place="dragon"),
        knight("galahad", "fight_1", place="dragon"),
        knight("tristan"),
        active=2,
        over=["lancelot"],
        dragon={"white": [["fight_5"] * 3, ["fight_4"] * 3, ["fight_1"] * 2]},
        phase="heroic",
    )
    play(table, "fight:dragon:fight_1:2")
    assert asks(table) == ((2,), "propose_share")
    play(table, *["give:2"] * 7)
    assert table.asked == (0, 1)
    pick(table, 0, "accept")
    pick(table, 1, "decline")
    assert [len(hand_of(table, seat)) for seat in range(4)] == [2, 2, 3, 0]


@pytest.mark.rule("R8.3")
def test_an_absent_winner_lets_the_next_knight_there_clockwise_propose() -> None:
    table = situation(
        knight("gawain", "lady_of_the_lake"),
        knight("arthur"),
        knight("galahad", place="excalibur"),
        knight("tristan", place="excalibur"),
        excalibur=9,
        phase="heroic",
    )
    play(table, "play:lady_of_the_lake")
    assert asks(table) == ((2,), "propose_share")


@pytest.mark.rule("R8.3", "R1.8")
def test_no_more_swords_are_laid_than_the_reserve_holds() -> None:
    table = situation(
        *fillers(3),
        over=["lancelot"],
        dragon={"black": laid("lancelot_dragon_1_5*4")},
        mists=1,
        heroism="dragon",
        black_top="lancelot_dragon_3_7",
    )
    state_of(table).white_swords = 13  # more than play can bring before the game ends
    (swords,) = seen(play(table, "draw_black", "face_up"), events.SwordsLaid)
    assert (swords.white, swords.black) == (0, 3)
