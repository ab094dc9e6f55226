"""Questions: what is on offer, what stands by default, which answers are legal, and why something is not offered."""

from __future__ import annotations

import pytest

from engine.core.decisions import Explanation, Offer, Option, Question, question
from engine.core.errors import Reason, Refusal
from tests.unit.core.toy import option

RED, GREEN, BLUE, WHITE = (option(name, "T5") for name in ("red", "green", "blue", "white"))
NONE = option("pass", "T5", alone=True)


def two_or_three(*, ordered: bool = False) -> Question[Option]:
    return question(0, "colours", [NONE, RED, GREEN, BLUE, WHITE], least=2, most=3, ordered=ordered)


def declared(offer: Offer[Option]) -> None:
    offer(RED)
    offer(GREEN, ("T1", True), ("T2", False), ("T3", False))
    offer(BLUE, ("T4", True))


def refusal(asked: Question[Option], *picks: str) -> Refusal:
    with pytest.raises(Refusal) as refused:
        asked.judge(asked.places(picks))
    assert refused.value.field == "picks"
    return refused.value


# What is on offer


def test_candidates_that_meet_all_their_conditions_are_offered_in_order() -> None:
    assert question(0, "colours", declared).options == (RED, BLUE)


@pytest.mark.parametrize(
    ("candidate", "explanation"),
    [
        ("red", Explanation("red", offered=True, known=True, rule="T5")),
        ("green", Explanation("green", offered=False, known=True, rule="T2")),
        ("blue", Explanation("blue", offered=True, known=True, rule="T5")),
        ("pink", Explanation("pink", offered=False, known=False, rule="")),
    ],
)
def test_a_candidate_is_explained_by_its_first_unmet_condition(candidate: str, explanation: Explanation) -> None:
    assert question(0, "colours", declared).explain(candidate) == explanation


def test_a_plain_list_explains_itself() -> None:
    asked = two_or_three()
    assert asked.explain("red") == Explanation("red", offered=True, known=True, rule="T5")
    assert asked.explain("pink") == Explanation("pink", offered=False, known=False, rule="")


def test_explaining_changes_nothing_on_offer() -> None:
    asked = question(0, "colours", declared)
    asked.explain("green")
    assert asked.options == (RED, BLUE)


# Defaults


def test_the_default_is_the_first_preferred_option_on_offer() -> None:
    assert question(0, "colours", declared, prefer=[GREEN, BLUE, RED]).default == (1,)


def test_without_a_preferred_option_the_first_ones_stand() -> None:
    assert question(0, "colours", declared, prefer=[WHITE]).default == (0,)
    assert question(0, "colours", [RED, GREEN, BLUE], least=2, most=3).default == (0, 1)


# Legal answers


@pytest.mark.parametrize("picks", [("red", "green"), ("red", "blue", "white"), ("pass",)])
def test_listed_picks_in_the_order_of_the_list_are_legal(picks: tuple[str, ...]) -> None:
    asked = two_or_three()
    asked.judge(asked.places(picks))


def test_an_ordered_answer_takes_any_order() -> None:
    asked = two_or_three(ordered=True)
    places = asked.places(["white", "red", "blue"])
    asked.judge(places)
    assert places == (4, 1, 3)


@pytest.mark.parametrize(
    ("picks", "reason"),
    [
        (("red", "pink"), Reason.UNKNOWN_OPTION),
        (("red", "RED"), Reason.UNKNOWN_OPTION),
        (("",), Reason.UNKNOWN_OPTION),
        (("red", "red"), Reason.REPEATED_PICK),
        (("red", "green", "red"), Reason.REPEATED_PICK),
        (("pass", "red"), Reason.PICK_NOT_ALONE),
        ((), Reason.TOO_FEW_PICKS),
        (("red",), Reason.TOO_FEW_PICKS),
        (("red", "green", "blue", "white"), Reason.TOO_MANY_PICKS),
        (("green", "red"), Reason.PICKS_OUT_OF_ORDER),
    ],
)
def test_each_illegal_answer_has_its_reason(picks: tuple[str, ...], reason: Reason) -> None:
    assert refusal(two_or_three(), *picks).reason is reason


@pytest.mark.parametrize(
    ("picks", "reason"),
    [
        ((), Reason.TOO_FEW_PICKS),
        (("red", "blue"), Reason.TOO_MANY_PICKS),
        (("red", "red"), Reason.REPEATED_PICK),
    ],
)
def test_a_single_choice_takes_exactly_one_pick(picks: tuple[str, ...], reason: Reason) -> None:
    assert refusal(question(0, "colours", declared), *picks).reason is reason


def test_what_is_not_offered_is_refused_by_its_unmet_rule() -> None:
    assert refusal(question(0, "colours", declared), "green").rule == "T2"
    assert refusal(question(0, "colours", declared), "pink").rule == ""


@pytest.mark.parametrize("places", [(-1,), (2,), (-1, 0), (0, 7)])
def test_places_outside_the_list_are_refused(places: tuple[int, ...]) -> None:
    with pytest.raises(Refusal) as refused:
        question(0, "colours", declared, most=2).judge(places)
    assert refused.value.reason is Reason.UNKNOWN_OPTION
