"""How rules ask. A rule that needs a choice yields an `Ask` and gets the answers back as values.

The options on offer are the only judge of what is legal: an answer is accepted if and only if it picks listed options.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from engine.core.errors import Reason, Refusal


class Option(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One thing a seat may choose. Games add typed fields; an option never carries a card's lasting identity."""

    id: str
    """`verb[:argument]...`, unique within its decision and stable for the same choice; at most 64 characters."""
    rule: str
    """Number of the rule that allows it."""
    title: str
    """What it means, in a few words."""
    alone: bool = False
    """Must be the only pick, as `pass` in a decision that takes several."""


Opt = TypeVar("Opt", bound=Option)
Condition = tuple[str, bool]
"""A rule's number and whether what it demands is met."""


class Offer(Generic[Opt]):
    """Takes candidates with their conditions and keeps those that meet them all."""

    __slots__ = ("options",)
    explaining = False
    """True where every candidate is wanted with its conditions; else what is surely out need not be offered."""

    def __init__(self) -> None:
        self.options: list[Opt] = []

    def __call__(self, option: Opt, *conditions: Condition) -> None:
        for condition in conditions:
            if not condition[1]:
                return
        self.options.append(option)


class Explanation(msgspec.Struct, frozen=True):
    """Why a candidate is, or is not, on offer: `rule` is the first one not met, else the one that allows it."""

    candidate: str
    offered: bool
    known: bool
    """False when no such candidate belongs to this question at all."""
    rule: str = ""


class _Explaining(Offer[Opt]):
    """The same declarations, asked why."""

    __slots__ = ("candidate", "found")
    explaining = True

    def __init__(self, candidate: str) -> None:
        super().__init__()
        self.candidate = candidate
        self.found = Explanation(candidate, offered=False, known=False)

    def __call__(self, option: Opt, *conditions: Condition) -> None:
        if option.id != self.candidate:
            return
        unmet = next((rule for rule, met in conditions if not met), None)
        self.found = Explanation(self.candidate, unmet is None, True, unmet or option.rule)


Declaration = Callable[[Offer[Opt]], None]
"""Offers every candidate of a question with its conditions. Reads the state, never changes it."""


class Question(msgspec.Struct, Generic[Opt], frozen=True, eq=False):
    """What one seat is asked: which options, how many to pick, and what stands when nobody answers."""

    seat: int
    key: str
    options: tuple[Opt, ...]
    least: int
    most: int
    ordered: bool
    default: tuple[int, ...]
    declare: Declaration[Opt] | None
    prefer: tuple[Opt, ...] = ()

    def again(self) -> Question[Opt] | None:
        """The question as it is declared now, itself if its options are fixed; None if too little is left to pick."""
        if self.declare is None:
            return self
        options = _declared(self.declare)
        if len(options) < max(self.least, 1):
            return None
        return msgspec.structs.replace(
            self, options=options, default=_default(options, self.least, self.prefer), most=min(self.most, len(options))
        )

    def explain(self, candidate: str) -> Explanation:
        explaining: _Explaining[Opt] = _Explaining(candidate)
        if self.declare is None:
            for option in self.options:
                explaining(option)
        else:
            self.declare(explaining)
        return explaining.found

    def places(self, picks: Sequence[str], why: Callable[[str], Explanation] | None = None) -> tuple[int, ...]:
        """The places of the picked options in the list on offer; raises `Refusal` for what is not listed.

        Args:
            why: explains it, where there is more to say than the question has.
        """
        ids = [option.id for option in self.options]
        places = []
        for pick in picks:
            if pick not in ids:
                unmet = (why or self.explain)(pick)
                raise Refusal(
                    Reason.UNKNOWN_OPTION,
                    "a pick is not among the options on offer",
                    field="picks",
                    rule=unmet.rule,
                    about={"pick": pick},
                )
            places.append(ids.index(pick))
        return tuple(places)

    def judge(self, places: tuple[int, ...]) -> None:
        """Accepts the picked places or raises `Refusal`."""
        number = len(places)
        if number == 1 == self.least and 0 <= places[0] < len(self.options):
            return
        if any(not 0 <= place < len(self.options) for place in places):
            raise Refusal(Reason.UNKNOWN_OPTION, "a pick is not among the options on offer", field="picks")
        if len(set(places)) < number:
            raise Refusal(Reason.REPEATED_PICK, "an option is picked twice", field="picks")
        if any(self.options[place].alone for place in places):
            if number > 1:
                raise Refusal(Reason.PICK_NOT_ALONE, "a pick stands only alone", field="picks")
            return
        if number < self.least:
            raise Refusal(Reason.TOO_FEW_PICKS, f"at least {self.least} picks are needed", field="picks")
        if number > self.most:
            raise Refusal(Reason.TOO_MANY_PICKS, f"at most {self.most} picks are taken", field="picks")
        if not self.ordered and list(places) != sorted(places):
            raise Refusal(
                Reason.PICKS_OUT_OF_ORDER, "picks are to be listed in the order of the options", field="picks"
            )


Answers = dict[int, tuple[Any, ...]]
"""The options each seat picked, in the order in which the answers came."""


class Ask(msgspec.Struct, eq=False):
    """Questions to one seat or to several at once."""

    questions: dict[int, Question[Any]]
    heard: Callable[[int, tuple[Any, ...]], None] | None = None
    """Called as each answer comes in: tells the table what everybody learns of it."""
    settled: Callable[[Answers], bool] | None = None
    """Closes the ask before all have answered."""


class Checkpoint:
    """Yielded where no rule is half-way through: the state alone tells how to go on."""


CHECKPOINT = Checkpoint()

Script = Generator[Any, Any, Any]
"""A rule that asks. Yields `Ask` or `CHECKPOINT`, is sent `Answers`."""


class Withdrawn(Exception):
    """Raised inside a rule whose single asked seat left the table, or was left with nothing to choose."""

    def __init__(self, seat: int) -> None:
        super().__init__(f"the question to seat {seat} was withdrawn")
        self.seat = seat


def question(
    seat: int,
    key: str,
    offered: Declaration[Opt] | Iterable[Opt],
    *,
    least: int = 1,
    most: int = 1,
    ordered: bool = False,
    prefer: Sequence[Opt] = (),
) -> Question[Opt]:
    """Builds a question. Its default is the first of `prefer` that is on offer, else the first `least` options.

    What a declaration offers is offered anew when a seat leaves while the question is open.
    """
    declare: Declaration[Opt] | None = None
    if callable(offered):
        declare = offered
        options = _declared(declare)
    else:
        options = tuple(offered)
    default = _default(options, least, prefer)
    return Question(seat, key, options, least, most, ordered, default, declare, tuple(prefer))


def _declared(declare: Declaration[Opt]) -> tuple[Opt, ...]:
    offer: Offer[Opt] = Offer()
    declare(offer)
    return tuple(offer.options)


def _default(options: tuple[Opt, ...], least: int, prefer: Sequence[Opt]) -> tuple[int, ...]:
    for preferred in prefer:
        if preferred in options:
            return (options.index(preferred),)
    return tuple(range(least))


def ask(
    seat: int, key: str, offered: Declaration[Opt] | Iterable[Opt], *, prefer: Sequence[Opt] = ()
) -> Generator[Any, Any, Opt]:
    """Asks one seat to pick one option; raises `Withdrawn` if that seat leaves or nothing is left on offer."""
    picked = yield from ask_several(seat, key, offered, least=1, most=1, prefer=prefer)
    return picked[0]


def ask_several(
    seat: int,
    key: str,
    offered: Declaration[Opt] | Iterable[Opt],
    *,
    least: int,
    most: int,
    ordered: bool = False,
    prefer: Sequence[Opt] = (),
) -> Generator[Any, Any, tuple[Opt, ...]]:
    """Asks one seat to pick several options; raises `Withdrawn` if that seat leaves or too little is left."""
    asked = question(seat, key, offered, least=least, most=most, ordered=ordered, prefer=prefer)
    answers: Answers = yield Ask({seat: asked})
    if seat not in answers:
        raise Withdrawn(seat)
    return answers[seat]


def ask_all(
    questions: Iterable[Question[Any]],
    *,
    heard: Callable[[int, tuple[Any, ...]], None] | None = None,
    settled: Callable[[Answers], bool] | None = None,
) -> Generator[Any, Any, Answers]:
    """Asks several seats at once; nobody asked, no answers."""
    asked = {each.seat: each for each in questions}
    if not asked:
        return {}
    answers: Answers = yield Ask(asked, heard, settled)
    return answers
