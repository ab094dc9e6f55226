"""What knights may say (section 18)."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest

from engine.camelot.game import CAMELOT
from engine.camelot.pieces import Card, Place
from engine.camelot.talk import Remark, Saying, remarks
from engine.camelot.wire import WIRE
from engine.core.table import Table
from roundtable.camelot.v1 import camelot_pb2
from tests.unit.camelot.situations import game_of, knight, offered, pick, play, situation

QUESTS = ["black_knight", "lancelot", "excalibur", "grail", "pict_war", "saxon_war"]
"""In play at the start: the Dragon comes after Lancelot."""
PLAIN = [
    *("stay", "draw_white", "fight_engines", "draw_black", "add_engine", "lose_life"),
    *("need_cards", "others_first"),
    *("have_magic", "can_bleed"),
    *("stay_with_me", "fight_them", "break_spell", "bear_spell", "agree", "disagree"),
]


def said(table: Table, seat: int) -> list[str]:
    return [remark.id for remark in remarks(game_of(table), seat)]


def about(table: Table, seat: int, saying: str) -> list[str]:
    return [each.partition(":")[2] for each in said(table, seat) if each.partition(":")[0] == saying]


def three(*others: dict[str, Any], **facts: Any) -> Table:
    return situation(knight("arthur", **facts), *(others or (knight("kay"), knight("gawain"))))


@pytest.mark.rule("R18.1")
def test_intentions_resources_and_abilities_go_by_places_and_knights() -> None:
    table = three(place="grail")

    assert about(table, 0, "go") == ["camelot", "black_knight", "lancelot", "excalibur", "pict_war", "saxon_war"]
    for saying in ("strong", "weak", "can_help", "can_win"):
        assert about(table, 0, saying) == QUESTS
    assert [each for each in said(table, 0) if ":" not in each] == PLAIN
    assert {remark.rule for remark in remarks(game_of(table), 0) if Saying.GO <= remark.saying <= Saying.CAN_BLEED} == {
        "R18.1"
    }


@pytest.mark.rule("R18.2")
def test_advice_and_opinions_go_by_quests_and_other_knights() -> None:
    table = three()

    for saying in ("send_help", "come_with_me"):
        assert about(table, 0, saying) == QUESTS
    for saying in ("help_me", "suspect", "trust"):
        assert about(table, 1, saying) == ["2", "0"]  # clockwise
    assert {remark.rule for remark in remarks(game_of(table), 0) if remark.saying >= Saying.SEND_HELP} == {"R18.2"}


@pytest.mark.rule("R18.1")
def test_nothing_that_can_be_said_names_a_card_a_number_or_a_loyalty() -> None:
    kinds = get_type_hints(Remark)
    assert {name: kind for name, kind in kinds.items() if kind is not str} == {
        "saying": Saying,
        "place": Place,
        "seat": int,
    }
    for remark in everything():
        for word in (*(card.title for card in Card if card), "loyal", "traitor"):
            assert word.lower() not in remark.title.lower() or word.lower() in remark.place.title.lower()
        if remark.seat < 0:
            assert not any(letter.isdigit() for letter in remark.id + remark.title)


def everything() -> list[Remark]:
    """Everything that anybody can ever say."""
    seven = ("arthur", "kay", "gawain", "galahad", "palamedes", "percival", "tristan")
    tables = [
        situation(*(knight(coat, place=place) for coat in seven), over=over)
        for place in ("camelot", "pict_war")
        for over in ([], ["lancelot"])
    ]
    found = {remark.id: remark for table in tables for seat in range(7) for remark in remarks(game_of(table), seat)}
    return list(found.values())


def test_the_list_is_closed() -> None:
    # 8 places to go to, 6 sayings about 7 quests, 3 about 7 knights, and the plain ones.
    assert len(everything()) == 8 + 6 * 7 + 3 * 7 + len(PLAIN) == 87
    assert {remark.saying for remark in everything()} == set(Saying)


@pytest.mark.rule("R18.1")
def test_a_quest_that_left_play_is_not_spoken_of() -> None:
    table = situation(knight("arthur"), knight("kay"), knight("gawain"), over=["excalibur", "lancelot"])

    left = ["black_knight", "dragon", "grail", "pict_war", "saxon_war"]
    assert about(table, 0, "go") == left
    for saying in ("strong", "weak", "can_help", "can_win", "send_help", "come_with_me"):
        assert about(table, 0, saying) == left


@pytest.mark.rule("R18.1", "R13.2")
def test_the_dead_say_nothing_and_nobody_speaks_of_them() -> None:
    table = three(knight("kay", life=0, standing="dead", place="nowhere"), knight("gawain"))

    assert said(table, 1) == []
    for saying in ("help_me", "suspect", "trust"):
        assert about(table, 0, saying) == ["2"]


@pytest.mark.rule("R18.1", "R20.8")
def test_a_newcomer_says_nothing_before_he_sits_down() -> None:
    assert said(three(), 3) == []


@pytest.mark.rule("R18.1", "R15.2")
def test_an_unmasked_traitor_says_what_he_will_do() -> None:
    traitor = knight("kay", life=0, standing="unmasked", place="nowhere", traitor=True, shown=True)
    table = three(traitor, knight("gawain"))

    assert said(table, 1) == ["draw_black", "add_engine"]
    assert about(table, 0, "suspect") == ["2"]


@pytest.mark.rule("R18.1", "R14A.2")
def test_nobody_suspects_or_trusts_a_loyalty_that_all_have_seen() -> None:
    table = three(knight("kay", shown=True), knight("gawain"))

    assert about(table, 0, "suspect") == about(table, 0, "trust") == ["2"]
    assert about(table, 0, "help_me") == ["1", "2"]


@pytest.mark.rule("R18.1")
def test_lies_are_offered_as_the_truth_is() -> None:
    """The same to a hand of Grails and an empty one, to a traitor and to a loyal knight."""
    grails, nothing, evil = three(hand="grail grail grail"), three(), three(traitor=True)

    assert said(grails, 0) == said(nothing, 0) == said(evil, 0)


def test_each_declaration_travels_with_its_references() -> None:
    for remark in everything():
        message = WIRE.declaration(remark)
        reference = camelot_pb2.DeclarationReference()
        assert message.detail.Unpack(reference)
        assert (message.id, message.rule, message.title) == (remark.id, remark.rule, remark.title)
        assert (int(reference.saying), int(reference.place)) == (int(remark.saying), int(remark.place))
        assert reference.seat == remark.seat if reference.HasField("seat") else remark.seat == -1


def test_a_turn_is_a_knights_turn() -> None:
    table = three()
    assert CAMELOT.turn(game_of(table)) == 0
    play(table, "add_engine")
    assert CAMELOT.turn(game_of(table)) == 0
    pick(table, 0, next(option for option in offered(table, 0) if option.startswith("move:")))
    if "end_turn" in offered(table, 0):
        pick(table, 0, "end_turn")
    assert CAMELOT.turn(game_of(table)) == 1
