"""Declarations of games, their options and events, and positions."""

from __future__ import annotations

import pytest

from engine.core.errors import Reason, Refusal
from engine.core.events import Told, kind_of
from engine.core.positions import PositionError, set_up
from tests.unit.core.toy import TOY, TOYS, Exchanged, Options, TurnLost


def test_options_left_out_are_at_their_defaults() -> None:
    assert TOY.parse_options({}) == Options(rounds=3, comings=True)
    assert TOY.parse_options({"rounds": "9", "comings": "false"}) == Options(rounds=9, comings=False)


@pytest.mark.parametrize(
    ("chosen", "reason", "field"),
    [
        ({"weather": "fine"}, Reason.UNKNOWN_GAME_OPTION, "options.weather"),
        ({"rounds": "4"}, Reason.GAME_OPTION_VALUE, "options.rounds"),
        ({"comings": "True"}, Reason.GAME_OPTION_VALUE, "options.comings"),
        ({"rounds": ""}, Reason.GAME_OPTION_VALUE, "options.rounds"),
    ],
)
def test_unknown_options_and_values_are_refused(chosen: dict[str, str], reason: Reason, field: str) -> None:
    with pytest.raises(Refusal) as refused:
        TOY.parse_options(chosen)
    assert (refused.value.reason, refused.value.field) == (reason, field)


def test_the_registry_knows_its_games_and_no_other() -> None:
    assert list(TOYS) == [TOY]
    assert TOYS.get("toy") is TOY
    with pytest.raises(Refusal) as refused:
        TOYS.get("chess")
    assert (refused.value.reason, refused.value.field) == (Reason.UNKNOWN_GAME, "game")
    assert refused.value.about == {"known": "toy"}


def test_a_kind_of_event_is_named_after_its_type() -> None:
    assert kind_of(TurnLost) == "turn_lost"


def test_each_seat_sees_its_own_form_of_an_event_and_everybody_else_the_public_one() -> None:
    told = Told(Exchanged(1), {1: Exchanged(1, 8)})
    assert told.seen_by(1) == Exchanged(1, 8)
    assert told.seen_by(0) == told.seen_by(None) == Exchanged(1)
    assert Told(TurnLost(2)).seen_by(2) == TurnLost(2)


def test_a_table_begins_in_a_described_position() -> None:
    table = set_up(TOY, {"seats": [0, 1], "numbers": [4, 9], "deck": [1, 2, 3, 5, 6, 7, 8], "round": 1})
    assert table.asked == (1,)
    assert table.version == 0
    assert not table.seed.verifiable


@pytest.mark.parametrize(
    ("facts", "fault"),
    [
        ({"seats": [0, 1], "numbers": [4, 4], "deck": [1, 2, 3, 5, 6, 7, 8]}, "numbers are lost or doubled"),
        ({"seats": [0, 1], "numbers": [1, 2], "deck": []}, "numbers are lost or doubled"),
    ],
)
def test_a_position_that_cannot_be_is_refused_with_its_faults(facts: dict[str, list[int]], fault: str) -> None:
    with pytest.raises(PositionError) as refused:
        set_up(TOY, facts)
    assert refused.value.faults == [("facts.deck", fault)]
