"""A small game with everything a table can do: secret numbers, talks and votes, players who come and go."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from engine.core.chance import Chance
from engine.core.data import Rule
from engine.core.decisions import (
    CHECKPOINT,
    Answers,
    Offer,
    Option,
    Script,
    Withdrawn,
    ask,
    ask_all,
    ask_several,
    question,
)
from engine.core.errors import Reason, Refusal
from engine.core.events import Event
from engine.core.facts import Fault
from engine.core.games import Game, OptionSpec, Outcome, Play, Registry

VOTES_TO_CARRY = 3
SEATS_MAX = 4
NUMBERS = range(1, 10)

RULES = {
    number: Rule(number, title, "1")
    for number, title in (
        ("T1", "The chair chooses what is done"),
        ("T2", "Nobody rolls in the first round"),
        ("T3", "Only high numbers boast"),
        ("T4", "A vote is carried by three voices"),
        ("T5", "Colours are ranked"),
        ("T6", "A number may be exchanged"),
        ("T7", "A chair that leaves loses the turn"),
        ("T8", "Players come and go between rounds"),
        ("T9", "The highest number wins"),
    )
}


class State(msgspec.Struct, array_like=True):
    seats: list[int]
    """Who still plays, in the order of turns."""
    numbers: list[int]
    """By seat, the number that it alone knows."""
    deck: list[int]
    round: int = 0


class Options(msgspec.Struct, frozen=True):
    rounds: int
    comings: bool
    """Whether players may join."""


class Tabled(Event, frozen=True):
    seat: int
    topic: str


class Voted(Event, frozen=True):
    seat: int
    voices: int


class VoteClosed(Event, frozen=True):
    carried: bool


class Rolled(Event, frozen=True):
    number: int


class Ranked(Event, frozen=True):
    seat: int
    colours: tuple[str, ...]


class Exchanged(Event, frozen=True):
    seat: int
    number: int = 0


class TurnLost(Event, frozen=True):
    seat: int


class Came(Event, frozen=True):
    seat: int


class Went(Event, frozen=True):
    seat: int


class Ended(Event, frozen=True):
    numbers: tuple[int, ...]


class ToyView(msgspec.Struct, frozen=True):
    seats: tuple[int, ...]
    round: int
    deck: int
    number: int
    """The viewer's own, 0 for a spectator."""


class ToyPlay(Play[State, Options]):
    __slots__ = ()


def option(id: str, rule: str, *, alone: bool = False) -> Option:
    return Option(id=id, rule=rule, title=id.capitalize(), alone=alone)


VOTE, ROLL, BOAST, RANK, EXCHANGE = (
    option(name, "T1") for name in ("topic:vote", "topic:roll", "topic:boast", "topic:rank", "topic:exchange")
)
ABSTAIN = option("pass", "T4")
VOICES = {number: option(f"voices:{number}", "T4") for number in (1, 2)}
COLOURS = tuple(option(f"colour:{name}", "T5") for name in ("red", "green", "blue", "white"))
NO_COLOUR = option("pass", "T5", alone=True)


def script(g: ToyPlay) -> Script:
    while g.state.round < g.options.rounds and g.state.seats:
        chair = g.state.seats[g.state.round % len(g.state.seats)]
        try:
            yield from turn(g, chair)
        except Withdrawn as left:
            g.tell(TurnLost(left.seat, rule="T7"))
        come_and_go(g)
        g.state.round += 1
        yield CHECKPOINT
    g.tell(Ended(tuple(g.state.numbers), rule="T9"))
    best = max((g.state.numbers[seat] for seat in g.state.seats), default=0)
    winners = tuple(seat for seat in g.state.seats if g.state.numbers[seat] == best)
    return Outcome("played_out", "T9", winners)


def turn(g: ToyPlay, chair: int) -> Script:
    topic = yield from ask(chair, "topic", partial(topics, g, chair), prefer=[ROLL, VOTE])
    g.tell(Tabled(chair, topic.id, rule="T1"))
    if topic is VOTE:
        yield from vote(g)
    elif topic is ROLL:
        g.tell(Rolled(g.chance.die(6), rule="T1"))
    elif topic is RANK:
        ranked = yield from ask_several(chair, "rank", [NO_COLOUR, *COLOURS], least=2, most=3, ordered=True)
        g.tell(Ranked(chair, tuple(colour.id for colour in ranked), rule="T5"))
    elif topic is EXCHANGE:
        exchange(g, chair)


def topics(g: ToyPlay, chair: int, offer: Offer[Option]) -> None:
    offer(VOTE)
    offer(ROLL, ("T2", g.state.round > 0))
    offer(BOAST, ("T2", g.state.round > 0), ("T3", g.state.numbers[chair] >= 5))
    offer(RANK)
    offer(EXCHANGE)


def vote(g: ToyPlay) -> Script:
    def heard(seat: int, picked: Sequence[Option]) -> None:
        g.tell(Voted(seat, voices_of(picked), rule="T4"))

    def carried(answers: Answers) -> bool:
        return sum(map(voices_of, answers.values())) >= VOTES_TO_CARRY

    voters = [seat for seat in g.state.seats if seat not in g.departures]
    answers = yield from ask_all(
        (question(seat, "vote", [ABSTAIN, *VOICES.values()]) for seat in voters), heard=heard, settled=carried
    )
    g.tell(VoteClosed(carried(answers), rule="T4"))


def voices_of(picked: Sequence[Option]) -> int:
    return next((number for number, voices in VOICES.items() if voices in picked), 0)


def exchange(g: ToyPlay, chair: int) -> None:
    """The chair's number goes below the deck, the top one is his."""
    state = g.state
    state.deck.insert(0, state.numbers[chair])
    state.numbers[chair] = state.deck.pop()
    g.tell_some(Exchanged(chair, rule="T6"), {chair: Exchanged(chair, state.numbers[chair], rule="T6")})


def come_and_go(g: ToyPlay) -> None:
    for seat in g.departures:
        g.state.seats.remove(seat)
        g.tell(Went(seat, rule="T8"))
    for seat in g.arrivals:
        g.state.numbers.append(g.state.deck.pop())
        g.state.seats.append(seat)
        g.tell(Came(seat, rule="T8"))
    g.departures.clear()
    g.arrivals.clear()


class Toy(Game[State, Options]):
    id = "toy"
    title = "Toy"
    rules_version = 1
    seats = range(2, SEATS_MAX + 1)
    rules = RULES
    options = (
        OptionSpec("rounds", "How many rounds are played", ("2", "3", "9"), "3"),
        OptionSpec("comings", "Whether players may join", ("true", "false"), "true"),
    )
    state_type = State
    options_type = Options

    def deal(self, seats: int, options: Options, chance: Chance) -> State:
        numbers = list(NUMBERS)
        chance.shuffle(numbers)
        return State(list(range(seats)), numbers[:seats], numbers[seats:])

    def seats_of_facts(self, given: Mapping[str, Any]) -> int | None:
        return len(given["numbers"]) if isinstance(given.get("numbers"), list) else None

    def seats_of(self, play: ToyPlay) -> Collection[int]:
        return range(len(play.state.numbers) + len(play.arrivals))

    def play(self, state: State, options: Options, chance: Chance) -> ToyPlay:
        return ToyPlay(state, options, chance)

    def script(self, play: ToyPlay) -> Script:
        return script(play)

    def view(self, play: ToyPlay, seat: int | None) -> ToyView:
        state = play.state
        known = seat is not None and seat < len(state.numbers)
        number = state.numbers[seat] if known and seat is not None else 0
        return ToyView(tuple(state.seats), state.round, len(state.deck), number)

    def redeal(self, play: ToyPlay, seat: int | None, chance: Chance) -> None:
        state = play.state
        others = [other for other in range(len(state.numbers)) if other != seat]
        unknown = [state.numbers[other] for other in others] + state.deck
        chance.shuffle(unknown)
        for other in others:
            state.numbers[other] = unknown.pop()
        state.deck = unknown

    def reveals(self) -> frozenset[type[Event]]:
        return frozenset({Exchanged, Ended})

    def faults(self, play: ToyPlay, *, resting: bool = False) -> Iterable[Fault]:
        if sorted(play.state.numbers + play.state.deck) != list(NUMBERS):
            yield Fault("deck", "numbers are lost or doubled")

    def may_leave(self, play: ToyPlay, seat: int) -> None:
        if seat not in play.state.seats or seat in play.departures:
            raise Refusal(Reason.SEATS_FIXED, "this seat does not play", field="seat")

    def may_join(self, play: ToyPlay) -> int:
        if not play.options.comings or len(self.seats_of(play)) >= SEATS_MAX:
            raise Refusal(Reason.SEATS_FIXED, "there is no place", field="seat")
        return len(self.seats_of(play))


TOY = Toy()
TOYS = Registry([TOY])
