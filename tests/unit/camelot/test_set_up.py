"""Setting up the table and the sharing before the first turn (section 2)."""

from __future__ import annotations

import pytest

from engine.camelot import events
from engine.camelot.game import CAMELOT
from engine.camelot.pieces import Card, Coat, Place
from engine.core.chance import Seed
from engine.core.errors import Reason, Refusal
from engine.core.table import Table
from tests.unit.camelot.situations import (
    fillers,
    hand_of,
    names,
    offered,
    pick,
    play,
    refusal,
    seen,
    situation,
    state_of,
)

SEATS = pytest.mark.parametrize("seats", range(3, 8))


def dealt(seats: int, seed: int = 1, **options: str) -> Table:
    table, _ = Table.new(CAMELOT, seats, options, Seed.fixed(seed))
    return table


def coats(table: Table) -> list[Coat]:
    return [knight.coat for knight in state_of(table).knights]


def give_first_cards(table: Table) -> list[str]:
    """Every seat offers the first card of its hand; the cards offered, from the first player on."""
    state = state_of(table)
    given = {seat: hand_of(table, seat)[0] for seat in table.asked}
    for seat, card in given.items():
        pick(table, seat, f"card:{card}")
    return [given[(state.active + place) % len(given)] for place in range(len(given))]


@pytest.mark.parametrize("seats", [2, 8])
def test_three_to_seven_play(seats: int) -> None:
    with pytest.raises(Refusal) as refused:
        dealt(seats)
    assert refused.value.reason is Reason.SEATS_OUT_OF_RANGE


@SEATS
@pytest.mark.rule("R2.1", "R1.8")
def test_the_board_is_empty_and_excalibur_in_the_middle(seats: int) -> None:
    view = dealt(seats).view(None).game
    assert (view.white_swords, view.black_swords, view.engines) == (0, 0, 0)
    assert [(war.run, war.warriors, war.mordred) for war in view.wars] == [(0, 0, False)] * 2
    assert [(combat.place, combat.in_play) for combat in view.combats] == [
        (Place.BLACK_KNIGHT, True),
        (Place.LANCELOT, True),
        (Place.DRAGON, False),
    ]
    assert all(not combat.black and not any(combat.groups) for combat in view.combats)
    assert (view.excalibur_in_play, view.excalibur, view.excalibur_steps) == (True, 5, 10)
    assert (view.grail_in_play, view.grail) == (True, (Card.UNKNOWN,) * 7)
    assert (view.heroism, view.vivien, view.dark_forest, view.mists) == (Place.NOWHERE, False, False, 0)
    assert all(knight.relics == () for knight in view.knights)


@SEATS
@pytest.mark.rule("R2.2", "R2.3", "R2.4")
def test_knights_begin_with_a_coat_of_their_own_and_four_lives_in_camelot(seats: int) -> None:
    knights = dealt(seats).view(None).game.knights
    assert len({knight.coat for knight in knights}) == seats
    assert [(knight.life, knight.place) for knight in knights] == [(4, Place.CAMELOT)] * seats


@pytest.mark.rule("R2.2")
def test_every_coat_is_dealt_sooner_or_later() -> None:
    assert {coat for seed in range(40) for coat in coats(dealt(3, seed))} == {coat for coat in Coat if coat}


@SEATS
@pytest.mark.rule("R2.5", "R2.6", "R2.11")
def test_hands_and_piles(seats: int) -> None:
    table = dealt(seats)
    state = state_of(table)
    assert [len(knight.hand) for knight in state.knights] == [6] * seats
    assert all(Card.MERLIN in knight.hand for knight in state.knights)
    assert len(state.white_pile) == 84 - 6 * seats
    assert len(state.black_pile) == 76
    assert (len(state.white_discards), len(state.black_discards)) == (0, 0)
    merlins = [*state.white_pile, *(card for knight in state.knights for card in knight.hand)].count(Card.MERLIN)
    assert merlins == 7


@pytest.mark.rule("R2.6")
def test_leftover_merlins_are_dealt_like_other_cards() -> None:
    assert any(hand_of(dealt(3, seed), seat).count("merlin") > 1 for seed in range(20) for seat in range(3))


@pytest.mark.rule("R2.7", "R2.9", "R20.4")
@pytest.mark.parametrize(("traitors", "cards"), [("standard8", 8), ("none", 7), ("among_us", 6)])
def test_loyalty_is_dealt_from_the_deck_that_the_option_names(traitors: str, cards: int) -> None:
    found = set()
    for seed in range(60):
        state = state_of(dealt(5, seed, traitor_in_deck=traitors))
        held = sum(knight.traitor for knight in state.knights)
        assert len(state.spare_loyalty) == cards - 5
        assert held + sum(state.spare_loyalty) == (traitors != "none")
        found.add(held)
    assert found == ({0} if traitors == "none" else {0, 1})


@pytest.mark.rule("R2.7")
def test_each_knows_his_own_loyalty_alone() -> None:
    table = dealt(4)
    for viewer in range(4):
        known = [knight.traitor is not None for knight in table.view(viewer).game.knights]
        assert known == [seat == viewer for seat in range(4)]
    assert [knight.traitor for knight in table.view(None).game.knights] == [None] * 4


@pytest.mark.rule("R2.8")
@pytest.mark.parametrize(("white", "black", "known"), [(3, 2, None), (3, 3, False), (0, 6, False)])
def test_three_players_look_at_their_loyalty_from_six_swords_on(white: int, black: int, known: bool | None) -> None:
    table = situation(*fillers(3), white_swords=white, black_swords=black)
    assert table.view(0).game.knights[0].traitor is known
    assert table.view(0).game.knights[1].traitor is None


@pytest.mark.rule("R2.8", "R20.10")
def test_by_option_three_players_know_their_loyalty() -> None:
    assert dealt(3, blind_loyalty_3p="false").view(0).game.knights[0].traitor is not None


@pytest.mark.rule("R2.12")
def test_arthur_begins_or_else_the_first_seat() -> None:
    first = set()
    for seed in range(20):
        table = dealt(3, seed)
        arthur = coats(table).index(Coat.ARTHUR) if Coat.ARTHUR in coats(table) else 0
        assert state_of(table).active == arthur
        give_first_cards(table)
        play(table, "deal_at_random")
        assert table.asked == (arthur,)
        first.add(arthur)
    assert first == {0, 1, 2}


@SEATS
@pytest.mark.rule("R2.10")
def test_all_offers_are_revealed_at_once(seats: int) -> None:
    table = dealt(seats)
    assert sorted(table.asked) == list(range(seats))
    assert refusal(table, 0, "pass") == (Reason.UNKNOWN_OPTION, "")
    *early, last = table.asked
    for seat in early:
        step = pick(table, seat, offered(table, seat)[0])
        assert step.told == []
    (revealed,) = seen(pick(table, last, offered(table, last)[0]), events.CardsOffered)
    assert sorted(seat for seat, _ in revealed.cards) == list(range(seats))
    assert table.view(None).game.pool.cards == tuple(card for _, card in revealed.cards)


@pytest.mark.rule("R2.10")
def test_by_agreement_one_knight_may_take_all() -> None:
    table = dealt(4)
    given = give_first_cards(table)
    first = state_of(table).active
    taker = (first + 1) % 4
    before = hand_of(table, taker)
    play(table, *[f"give:{taker}"] * 4)
    assert sorted(table.asked) == sorted(seat for seat in range(4) if seat != first)
    for seat in table.asked:
        pick(table, seat, "accept")
    assert sorted(hand_of(table, taker)) == sorted(before + given)
    assert sorted(len(hand_of(table, seat)) for seat in range(4)) == [5, 5, 5, 9]
    assert table.asked == (first,)


@pytest.mark.rule("R2.10")
def test_one_refusal_deals_one_card_to_each_at_random() -> None:
    outcomes = set()
    for seed in range(8):
        table = dealt(4, seed)
        given = give_first_cards(table)
        first = state_of(table).active
        play(table, *[f"give:{first}"] * 4)
        step = pick(table, table.asked[1], "decline")
        (answered,) = seen(step, events.ProposalAnswered)
        assert not answered.agreed
        assert [len(hand_of(table, seat)) for seat in range(4)] == [6] * 4
        dealt_now = [seen(step, events.CardsShared, (first + place) % 4)[0].cards[0] for place in range(4)]
        assert sorted(names(bytes(dealt_now))) == sorted(given)
        outcomes.add(names(bytes(dealt_now)) == given)
    assert False in outcomes


@pytest.mark.rule("R2.10")
def test_the_first_player_may_have_the_cards_dealt_without_a_proposal() -> None:
    table = dealt(5)
    give_first_cards(table)
    assert "deal_at_random" in offered(table, state_of(table).active)
    play(table, "deal_at_random")
    assert [len(hand_of(table, seat)) for seat in range(5)] == [6] * 5
