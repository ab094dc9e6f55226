"""What a game declares to be played at a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

import msgspec

from engine.core.chance import Chance, Seed
from engine.core.data import Rule
from engine.core.decisions import Question, Script
from engine.core.errors import Reason, Refusal
from engine.core.events import Event, Told
from engine.core.facts import Deck, Fault, form_of
from engine.core.talk import Declaration


class Outcome(msgspec.Struct, frozen=True, array_like=True):
    """How a game ended and which seats won it."""

    ending: str
    rule: str
    winners: tuple[int, ...]


class OptionSpec(msgspec.Struct, frozen=True):
    """A switch that is set when a game is created and kept with it."""

    id: str
    title: str
    values: tuple[str, ...]
    default: str


S = TypeVar("S", bound=msgspec.Struct)
P = TypeVar("P", bound=msgspec.Struct)


class Play(Generic[S, P]):
    """A game in play, as its rules see it: the state they change, the options, chance, and what they tell the seats."""

    __slots__ = ("arrivals", "chance", "departures", "options", "state", "told")

    def __init__(self, state: S, options: P, chance: Chance) -> None:
        self.state = state
        self.options = options
        self.chance = chance
        self.told: list[Told] = []
        self.departures: list[int] = []
        """Seats that left and are to be removed at the script's next safe point."""
        self.arrivals: list[int] = []
        """Seats that joined and are to be added at the script's next safe point."""

    def tell(self, event: Event) -> None:
        """Tells everybody the same."""
        self.told.append(Told(event))

    def tell_some(self, public: Event, private: Mapping[int, Event]) -> None:
        """Tells everybody the public form, and the named seats their own."""
        self.told.append(Told(public, dict(private)))


class Game(ABC, Generic[S, P]):
    """The declaration of a game. One instance serves every table; it holds no state."""

    id: str
    title: str
    rules_version: int
    """Changes whenever the same inputs would be asked, offered or carried out differently."""
    seats: range
    rules: Mapping[str, Rule]
    options: tuple[OptionSpec, ...]
    endings: tuple[str, ...]
    """Every way the game can end, as `Outcome.ending` names them."""
    state_type: type[S]
    options_type: type[P]

    def __init__(self) -> None:
        self.facts = form_of(self.state_type)
        """How a state is written in a position."""
        self.decode_state = msgspec.msgpack.Decoder(self.state_type).decode
        self.decode_options = lru_cache(maxsize=256)(msgspec.msgpack.Decoder(self.options_type).decode)

    @abstractmethod
    def deal(self, seats: int, options: P, chance: Chance) -> S:
        """The state in which a table begins."""

    @abstractmethod
    def seats_of(self, play: Any) -> Collection[int]:
        """The seats at this table, whoever is still playing."""

    @abstractmethod
    def play(self, state: S, options: P, chance: Chance) -> Play[S, P]:
        """The context in which the script's rules run."""

    @abstractmethod
    def script(self, play: Any) -> Script:
        """The rules, entered where the state says; returns the `Outcome`."""

    @abstractmethod
    def view(self, play: Any, seat: int | None) -> msgspec.Struct:
        """Everything that seat (or a spectator) may know, and nothing else."""

    @abstractmethod
    def redeal(self, play: Any, seat: int | None, chance: Chance) -> None:
        """Rearranges at random whatever that seat cannot know, in place: another state that looks the same to it."""

    @abstractmethod
    def reveals(self) -> frozenset[type[Event]]:
        """Types of events by which a rule shows something that was hidden from the seat that sees them."""

    @abstractmethod
    def faults(self, play: Any, *, resting: bool = False) -> Iterable[Fault]:
        """What is wrong with a state of the right form, by path of its facts: numbers out of bounds, things that cannot
        be together. Nothing for every state of play. Pieces of `decks` are counted elsewhere.

        Args:
            resting: no rule is half-way through.
        """

    def decks(self, play: Any) -> Mapping[str, Deck]:
        """The pieces of which there is a certain number in every state of play, by the deck's name in `Pieces`."""
        return {}

    def seats_of_facts(self, given: Mapping[str, Any]) -> int | None:
        """How many seats facts are about, where they tell."""
        return None

    def set_up_facts(self, given: Mapping[str, Any], seats: int, options: P) -> dict[str, Any]:
        """Facts of the set-up, which hold where the given ones say nothing; the given ones are not checked yet."""
        facts: dict[str, Any] = self.facts.write(self.deal(seats, options, Chance(Seed.fixed(0))))
        return facts

    def tidy(self, state: S) -> None:
        """Puts in order what people may write in any order."""
        return None

    def why_not(self, play: Any, seat: int, candidate: str, asked: Question[Any] | None) -> str | None:
        """Number of the rule that keeps a candidate from a seat whose open question, if any, is not about it; None if
        the game has no such candidate, or nothing can be said of it here. Tells nothing that the seat may not know."""
        return None

    def may_leave(self, play: Any, seat: int) -> None:
        """Raises `Refusal` when that seat may not leave now."""
        raise Refusal(Reason.SEATS_FIXED, f"{self.title} cannot be left", field="seat")

    def depart(self, play: Any, seat: int) -> None:
        """A seat leaves: as declared here at the script's next safe point, as a game declares otherwise at once.

        What it raises is raised inside the script, where it waits: so the game can end with the departure.
        """
        play.departures.append(seat)

    def may_join(self, play: Any) -> int:
        """The seat a newcomer would get; raises `Refusal` when nobody may join now."""
        raise Refusal(Reason.SEATS_FIXED, f"{self.title} cannot be joined", field="seat")

    def check(self, seats: int, chosen: Mapping[str, str]) -> P:
        """What a table is asked for with, as options; refuses a number of seats or options that it does not take."""
        if seats not in self.seats:
            raise Refusal(
                Reason.SEATS_OUT_OF_RANGE,
                f"{self.title} takes {self.seats.start} to {self.seats.stop - 1} seats",
                field="seats",
            )
        return self.parse_options(chosen)

    def declarations(self, play: Any, seat: int) -> Sequence[Declaration]:
        """What that seat may say to everybody now. It follows from what everybody knows. Nothing: no table talk."""
        return ()

    def turn(self, play: Any) -> int:
        """How many turns are over, whatever a turn is here: within one, a seat says each thing once."""
        return 0

    def parse_options(self, chosen: Mapping[str, str]) -> P:
        """Options from text, the missing ones at their defaults; refuses unknown options and values."""
        specs = {spec.id: spec for spec in self.options}
        for name, value in chosen.items():
            if name not in specs:
                raise Refusal(Reason.UNKNOWN_GAME_OPTION, f"{self.title} has no such option", field=f"options.{name}")
            if value not in specs[name].values:
                raise Refusal(
                    Reason.GAME_OPTION_VALUE,
                    f"the option takes one of {', '.join(specs[name].values)}",
                    field=f"options.{name}",
                )
        text = {spec.id: chosen.get(spec.id, spec.default) for spec in self.options}
        return msgspec.convert(text, self.options_type, strict=False)


AnyGame = Game[Any, Any]


class Registry:
    """The games that can be played, by id."""

    def __init__(self, games: Iterable[AnyGame]) -> None:
        self._games = {game.id: game for game in games}

    def __iter__(self) -> Iterator[AnyGame]:
        return iter(self._games.values())

    def get(self, game: str) -> AnyGame:
        if game not in self._games:
            raise Refusal(
                Reason.UNKNOWN_GAME,
                "no such game",
                field="game",
                about={"known": ",".join(sorted(self._games))},
            )
        return self._games[game]
