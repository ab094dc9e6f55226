"""The variants of section 20: squires, loyalty decks, three brave knights, and how they combine."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from random import Random
from typing import Any

import pytest

from engine.camelot import events
from engine.camelot.game import CAMELOT
from engine.camelot.pieces import Card, Coat, Phase, Standing
from engine.camelot.turns import loyalty_deck
from engine.core.chance import Seed
from engine.core.errors import Reason, Refusal
from engine.core.table import Table
from tests.property.playing import moves
from tests.unit.camelot.situations import (
    asks,
    fillers,
    game_of,
    hand_of,
    knight,
    knight_of,
    offered,
    pick,
    play,
    seen,
    situation,
    state_of,
)

SQUIRES = {"squires": "true"}


def dealt(seats: int, options: Mapping[str, str] | None = None, seed: int = 1) -> Table:
    return Table.new(CAMELOT, seats, options or {}, Seed.fixed(seed))[0]


def choose(table: Table, *knights: int) -> None:
    """These players begin as knights, the others as squires."""
    for seat in list(table.asked):
        pick(table, seat, "knight" if seat in knights else "squire")


def squire(hand: str = "", **facts: Any) -> dict[str, Any]:
    return knight("none", hand, **facts)


# Squires at the start


@pytest.mark.rule("R20.3", "R20.10")
@pytest.mark.parametrize(
    ("options", "life", "cards"),
    [({}, 4, 5), ({"squire_start_life": "3", "squire_start_cards": "3"}, 3, 3), ({"squire_start_cards": "4"}, 4, 4)],
)
def test_each_player_may_begin_as_a_squire(options: dict[str, str], life: int, cards: int) -> None:
    table = dealt(4, SQUIRES | options)
    assert asks(table) == ((0, 1, 2, 3), "challenge")
    assert offered(table, 2) == ["squire", "knight"]
    assert table.view(None).game.turn.phase is Phase.CHALLENGE
    choose(table, 2)

    squires = [knight_of(table, seat) for seat in (0, 1, 3)]
    assert [(each.coat, each.life, len(each.hand)) for each in squires] == [(Coat.NONE, life, 1 + cards)] * 3
    assert all(Card.MERLIN in each.hand for each in squires)
    (other,) = [each for each in state_of(table).knights if each.coat]
    assert (other.seat, other.life, len(other.hand)) == (2, 4, 6)
    assert other.coat not in state_of(table).spare_coats
    assert len(state_of(table).spare_coats) == 6
    assert len(state_of(table).white_pile) == 84 - 3 * (1 + cards) - 6
    assert asks(table)[1] == "offer_card"


@pytest.mark.rule("R20.3")
def test_who_begins_as_a_squire_is_told_once_all_have_chosen() -> None:
    table = dealt(3, SQUIRES)
    assert pick(table, 0, "squire").told == []
    assert pick(table, 1, "knight").told == []
    step = pick(table, 2, "squire")
    (named,) = seen(step, events.SquiresNamed)
    assert sorted(named.squires) == [0, 2]
    (knighted,) = seen(step, events.Knighted)
    assert (knighted.seat, knighted.coat, knighted.rule) == (1, knight_of(table, 1).coat, "R2.2")


@pytest.mark.rule("R20.3", "R2.12")
def test_a_real_arthur_begins_else_the_youngest() -> None:
    first = set()
    for seed in range(30):
        table = dealt(3, SQUIRES, seed)
        choose(table, 1)
        arthur = knight_of(table, 1).coat is Coat.ARTHUR
        assert state_of(table).active == (1 if arthur else 0)
        first.add(arthur)
    assert first == {True, False}


@pytest.mark.rule("R20.3", "R20.7")
def test_who_leaves_before_he_has_chosen_is_out() -> None:
    table = dealt(4, SQUIRES)
    pick(table, 1, "knight")
    table.leave(1)
    table.leave(0)
    pick(table, 2, "squire")
    pick(table, 3, "knight")
    assert [knight_of(table, seat).coat is Coat.NONE for seat in range(4)] == [True, True, True, False]
    assert knight_of(table, 1).standing is Standing.LEFT
    assert asks(table) == ((2, 3), "offer_card") or asks(table) == ((3, 2), "offer_card")


@pytest.mark.rule("R20.3")
def test_without_the_option_nobody_is_asked() -> None:
    table = dealt(4)
    assert asks(table)[1] == "offer_card"
    assert all(each.coat for each in state_of(table).knights)


# Squires who are knighted


def winning(*others: dict[str, Any], ender: dict[str, Any] | None = None, **facts: Any) -> Table:
    """Seat 0 is about to win the Pict war with his Fight 5."""
    ender = ender or squire("fight_5", place="pict_war")
    return situation(
        ender,
        *others,
        pict_war={"run": 4},
        phase="heroic",
        white_top="fight_1*4",
        **facts,
    )


WIN = "fight:pict_war:fight_5"


@pytest.mark.rule("R20.3")
def test_a_squire_has_no_power() -> None:
    table = situation(squire("grail piety"), *fillers(2), phase="heroic")
    assert not [each for each in offered(table, 0) if each.partition(":")[0] in ("exchange", "free", "ride")]
    play(table, "draw_white")
    assert len(hand_of(table, 0)) == 4


@pytest.mark.rule("R20.3")
def test_the_only_squire_on_a_won_quest_is_knighted_without_a_question() -> None:
    table = winning(*fillers(4, "arthur", "gawain"))
    step = play(table, WIN)
    (knighted,) = seen(step, events.Knighted)
    assert knighted == events.Knighted(0, knight_of(table, 0).coat, rule="R20.3")
    assert knighted.coat in (Coat.ARTHUR, Coat.GAWAIN, Coat.TRISTAN)
    assert knighted.coat not in state_of(table).spare_coats
    assert len(state_of(table).spare_coats) == 2
    assert table.view(None).game.knights[0].coat is knighted.coat
    assert asks(table) == ((0,), "heroic_action")


@pytest.mark.rule("R20.3")
def test_every_remaining_coat_can_be_his() -> None:
    found = set()
    for seed in range(40):
        table = winning(*fillers(4, "arthur", "gawain"), seed=seed)
        play(table, WIN)
        found.add(knight_of(table, 0).coat)
    assert found == {Coat.ARTHUR, Coat.GAWAIN, Coat.TRISTAN}


@pytest.mark.rule("R20.3", "R14.3")
def test_his_power_is_his_at_once() -> None:
    """Galahad's Coat of Arms is the last one left."""
    table = winning(*fillers(6, "galahad"), ender=squire("fight_5 piety", place="pict_war"))
    play(table, WIN)
    assert knight_of(table, 0).coat is Coat.GALAHAD
    assert "free:piety" in offered(table, 0)


@pytest.mark.rule("R20.3")
def test_the_palamedes_he_becomes_has_not_won_this_quest() -> None:
    table = winning(*fillers(6, "palamedes"))
    play(table, WIN)
    assert (knight_of(table, 0).coat, knight_of(table, 0).life) == (Coat.PALAMEDES, 5)


@pytest.mark.rule("R20.3")
def test_nobody_is_knighted_where_no_squire_stood() -> None:
    table = winning(squire(), squire(place="grail"), ender=knight("arthur", "fight_5", place="pict_war"))
    assert seen(play(table, WIN), events.Knighted) == []


@pytest.mark.rule("R20.3")
def test_nobody_is_knighted_by_a_lost_quest() -> None:
    table = situation(
        squire(place="pict_war"), squire(place="pict_war"), squire(), pict_war={"warriors": 3}, black_top="picts"
    )
    assert seen(play(table, "draw_black"), events.Knighted) == []
    assert [knight_of(table, seat).coat for seat in range(3)] == [Coat.NONE] * 3


@pytest.mark.rule("R20.3", "R20.9")
def test_the_group_chooses_one_squire_of_several() -> None:
    table = winning(squire(place="pict_war"), squire(place="pict_war"), squire(), knight("kay"))
    play(table, WIN, "deal_at_random")
    assert asks(table) == ((0,), "propose_squire")
    assert offered(table, 0) == ["squire:0", "squire:1", "squire:2"]
    step = play(table, "squire:2")
    assert seen(step, events.SquireProposed) == [events.SquireProposed(0, 2, rule="R20.9")]
    assert asks(table) == ((1, 2, 3, 4), "accept_squire")
    for seat in (4, 1, 2):
        pick(table, seat, "accept")
    step = pick(table, 3, "accept")
    assert seen(step, events.ProposalAnswered) == [events.ProposalAnswered(True, rule="R20.9")]
    assert [each.seat for each in seen(step, events.Knighted)] == [2]
    assert [bool(knight_of(table, seat).coat) for seat in range(5)] == [False, False, True, False, True]


@pytest.mark.rule("R20.3", "R20.9")
def test_without_agreement_the_squire_whose_action_won_is_knighted() -> None:
    table = winning(squire(place="pict_war"), squire(place="pict_war"), knight("kay"))
    play(table, WIN, "deal_at_random", "squire:2")
    step = pick(table, 3, "decline")
    assert seen(step, events.ProposalAnswered) == [events.ProposalAnswered(False, (3,), rule="R20.9")]
    assert [each.seat for each in seen(step, events.Knighted)] == [0]


@pytest.mark.rule("R20.9")
def test_without_agreement_and_an_ender_who_is_no_squire_the_next_one_clockwise_is_knighted() -> None:
    there = {"place": "pict_war"}
    table = situation(
        squire(),
        squire(**there),
        knight("arthur", "fight_5", **there),
        squire(**there),
        active=2,
        pict_war={"run": 4},
        phase="heroic",
    )
    play(table, WIN, "deal_at_random")
    assert offered(table, 2) == ["squire:3", "squire:1"]
    play(table, "squire:1")
    assert [each.seat for each in seen(pick(table, 0, "decline"), events.Knighted)] == [3]


@pytest.mark.rule("R20.9")
def test_who_won_from_elsewhere_proposes_and_gets_no_coat() -> None:
    table = situation(
        squire("lady_of_the_lake"),
        squire(place="excalibur"),
        squire(place="excalibur"),
        excalibur=9,
        phase="heroic",
    )
    play(table, "play:lady_of_the_lake", "deal_at_random")
    assert asks(table) == ((0,), "propose_squire")
    assert offered(table, 0) == ["squire:1", "squire:2"]
    play(table, "squire:2")
    assert [each.seat for each in seen(pick(table, 1, "decline"), events.Knighted)] == [1]


@pytest.mark.rule("R20.3")
def test_a_squire_may_own_a_relic() -> None:
    table = situation(squire("lady_of_the_lake"), *fillers(2), excalibur=9, phase="heroic")
    play(table, "play:lady_of_the_lake")
    assert [relic.name for relic in table.view(None).game.knights[0].relics] == ["EXCALIBUR"]


@pytest.mark.rule("R20.9", "R20.7")
def test_the_next_one_clockwise_proposes_when_the_ender_leaves() -> None:
    table = winning(squire(place="pict_war"), squire(place="pict_war"), knight("kay"), active=0)
    play(table, WIN, "deal_at_random")
    table.leave(0)
    assert asks(table) == ((1,), "propose_squire")
    assert offered(table, 1) == ["squire:1", "squire:2"]
    play(table, "squire:2")
    assert table.asked == (2, 3)
    assert [each.seat for each in seen(pick(table, 2, "decline"), events.Knighted)] == [1]
    assert asks(table) == ((1,), "progression_of_evil")


@pytest.mark.rule("R20.9", "R20.7")
def test_the_squire_who_was_to_be_knighted_leaves() -> None:
    table = winning(squire(place="pict_war"), squire(place="pict_war"), knight("kay"))
    play(table, WIN, "deal_at_random", "squire:2")
    pick(table, 1, "accept")
    step = table.leave(2)
    assert seen(step, events.ProposalAnswered) == []
    assert asks(table) == ((0,), "propose_squire")
    assert offered(table, 0) == ["squire:0", "squire:1"]
    step = table.leave(1)
    assert [each.seat for each in seen(step, events.Knighted)] == [0], "he is the only one left"


@pytest.mark.rule("R20.3", "R13.11")
def test_a_squire_at_no_life_is_not_knighted() -> None:
    table = winning(squire(place="pict_war", life=0), squire(), ender=knight("arthur", "fight_5", place="pict_war"))
    assert seen(play(table, WIN), events.Knighted) == []


@pytest.mark.rule("R20.1", "R20.3")
def test_a_newcomer_among_squires_is_a_knight() -> None:
    table = situation(squire(), squire(), squire(), options=SQUIRES)
    table.join()
    play(table, "add_engine", "move:grail", "end_turn")
    assert knight_of(table, 3).coat is not Coat.NONE
    assert state_of(table).order == [0, 3, 1, 2]


# Loyalty


@pytest.mark.rule("R20.4")
@pytest.mark.parametrize("seats", [3, 7])
def test_the_traitor_among_us_is_dealt_from_one_card_more_than_players(seats: int) -> None:
    deck = loyalty_deck(seats, CAMELOT.parse_options({"traitor_in_deck": "among_us"}))
    assert sorted(deck) == [0] * seats + [1]


@pytest.mark.rule("R20.5", "R2.7")
def test_three_brave_knights_have_a_traitor_in_three_of_eight_games() -> None:
    deck = loyalty_deck(3, CAMELOT.parse_options({}))
    assert (len(deck), sum(deck)) == (8, 1)


@pytest.mark.rule("R20.5", "R20.6", "R2.8")
@pytest.mark.parametrize("traitors", ["standard8", "none", "among_us"])
def test_three_brave_knights_do_not_know_their_loyalty_in_any_mode(traitors: str) -> None:
    table = dealt(3, {"traitor_in_deck": traitors})
    assert [table.view(viewer).game.knights[seat].traitor for viewer in (*range(3), None) for seat in range(3)] == (
        [None] * 12
    )
    seeing = situation(*fillers(3), white_swords=6, options={"traitor_in_deck": traitors})
    assert seeing.view(0).game.knights[0].traitor is False


@pytest.mark.rule("R2.9")
@pytest.mark.parametrize(("seats", "options"), [(4, {}), (3, {"blind_loyalty_3p": "false"})])
def test_without_a_traitor_the_loyalty_cards_lie_face_up(seats: int, options: dict[str, str]) -> None:
    knights = dealt(seats, {"traitor_in_deck": "none", **options}).view(None).game.knights
    assert [(each.traitor, each.loyalty_shown) for each in knights] == [(False, True)] * seats


# Combinations


VARIANTS = ("traitor_in_deck", "blind_loyalty_3p", "squires", "squire_start_life", "squire_start_cards")


def combinations() -> list[dict[str, str]]:
    values = [option.values for option in CAMELOT.options if option.id in VARIANTS]
    names = [option.id for option in CAMELOT.options if option.id in VARIANTS]
    return [dict(zip(names, each, strict=True)) for each in product(*values)]


@pytest.mark.rule("R20.6")
def test_variants_combine_freely() -> None:
    assert len(combinations()) == 3 * 2 * 2 * 2 * 3
    for options in combinations():
        for seats in CAMELOT.seats:
            assert list(CAMELOT.faults(game_of(dealt(seats, options)))) == []


@pytest.mark.rule("R20.6")
@pytest.mark.parametrize("seats", CAMELOT.seats)
def test_every_combination_is_played_to_its_end_while_players_come_and_go(seats: int) -> None:
    for number, options in enumerate(combinations()):
        random = Random(f"variants {seats} {number}")
        table = dealt(seats, options, number)
        for move in moves(table, random, restlessness=0.01):
            move.apply(table)
            assert list(CAMELOT.faults(game_of(table))) == []
        assert table.outcome is not None


@pytest.mark.rule("R20.6", "R20.10")
@pytest.mark.parametrize("both", ["none,among_us", "none among_us", ""])
def test_a_first_game_without_a_traitor_has_no_traitor_among_us(both: str) -> None:
    """The two are values of one option, which takes one."""
    with pytest.raises(Refusal) as refused:
        dealt(5, {"traitor_in_deck": both})
    assert (refused.value.reason, refused.value.field) == (Reason.GAME_OPTION_VALUE, "options.traitor_in_deck")
    assert refused.value.message == "the option takes one of standard8, none, among_us"


@pytest.mark.rule("R20.10")
def test_the_names_of_the_options_and_their_defaults() -> None:
    named = {option.id: (option.values, option.default) for option in CAMELOT.options}
    wanted = {
        "blind_loyalty_3p": (("true", "false"), "true"),
        "traitor_in_deck": (("standard8", "none", "among_us"), "standard8"),
        "squires": (("false", "true"), "false"),
        "squire_start_life": (("4", "3"), "4"),
        "squire_start_cards": (("5", "4", "3"), "5"),
        "unmasked_traitor_steals_card": (("true", "false"), "true"),
        "heal_with_merlins": (("false", "true"), "false"),
        "allow_zero_card_engine_fight": (("true", "false"), "true"),
        "end_flips_trigger_seven_black": (("false", "true"), "false"),
    }
    assert {name: named[name] for name in wanted} == wanted
