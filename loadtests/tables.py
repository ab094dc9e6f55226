"""The rules in process: how fast they play, how large a saved table is, and what it takes to travel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from statistics import median
from time import perf_counter_ns

from clients.choosing import choose_at_random
from engine.catalogue import GAMES
from engine.core.chance import Seed
from engine.core.games import AnyGame
from engine.core.table import Table
from loadtests.measuring import Figures, Measure, Path, spread
from roundtable.engine.v1.engine_pb2 import Resolved
from services.cli.simulate import simulate
from services.engine.service import fill, load

SEED = 1


@dataclass(frozen=True)
class Position:
    """A saved table, and the answer that was given next."""

    saved: bytes
    inputs: int
    """How many inputs it had since its checkpoint."""
    seat: int
    decision: str
    picks: tuple[str, ...]


def some_seats(game: AnyGame) -> list[int]:
    """The fewest seats a game takes, the most, and the number between."""
    return sorted({game.seats[0], game.seats[len(game.seats) // 2], game.seats[-1]})


def engine_measures(games: int) -> Iterator[tuple[Path, Measure]]:
    """Play by random choices.

    Args:
        games: how many are played for each measure; the same ones in every repeat.
    """
    for game in GAMES:
        for seats in some_seats(game):
            yield ("engine", game.id, str(seats)), partial(_random_play, game, seats, games)


def _random_play(game: AnyGame, seats: int, games: int) -> Figures:
    report = simulate(game, seats, {}, games, SEED, played=lambda: None)
    if report.finished != games:
        raise RuntimeError(f"{games - report.finished} of {games} games of {game.id} came to no end")
    return {"decisions_per_s": report.decisions_per_s, "games_per_s": report.games_per_s}


def positions(game: AnyGame, games: int) -> list[Position]:
    """Every position of random games, with each number of seats in turn."""
    random = Random(SEED)
    found = []
    for number in range(games):
        seats = game.seats[number % len(game.seats)]
        table, _ = Table.new(game, seats, {}, Seed.fixed(random.getrandbits(64)))
        while table.outcome is None:
            seat = random.choice(table.asked)
            question = table.question(seat)
            assert question is not None, "whoever is asked has a question"
            places = choose_at_random(
                random,
                [option.alone for option in question.options],
                question.least,
                question.most,
                ordered=question.ordered,
            )
            picks = tuple(question.options[place].id for place in places)
            found.append(Position(table.save(), len(table._since), seat, table.decision, picks))
            table.answer(seat, table.decision, picks)
    return found


def state_bytes(sampled: Sequence[Position]) -> Figures:
    sizes = [len(each.saved) for each in sampled]
    return {"median": median(sizes), "p99": spread(sizes).p99, "max": max(sizes)}


_BY_INPUTS: dict[str, Callable[[int], bool]] = {
    "0": lambda inputs: inputs == 0,
    "1": lambda inputs: inputs == 1,
    "5": lambda inputs: inputs == 5,
    "more": lambda inputs: inputs > 5,
}


def state_measures(game: AnyGame, sampled: Sequence[Position]) -> Iterator[tuple[Path, Measure]]:
    """Saving and loading, by the number of inputs since the checkpoint, and one `Resolve` by its stages."""
    for name, belongs in _BY_INPUTS.items():
        alike = [each.saved for each in sampled if belongs(each.inputs)]
        yield ("state", game.id, "inputs", name), partial(_travel, alike, len(sampled))
    yield ("resolve", game.id), partial(_resolve, sampled)


def _travel(saved: Sequence[bytes], of: int) -> Figures:
    loads, saves, both = [], [], []
    for data in saved:
        began = perf_counter_ns()
        table = Table.load(GAMES, data)
        loaded = perf_counter_ns()
        again = table.save()
        ended = perf_counter_ns()
        if again != data:
            raise RuntimeError("a saved table loads as another one")
        loads.append(loaded - began)
        saves.append(ended - loaded)
        both.append(ended - began)
    return {
        "share": len(saved) / of,
        "load_us": median(loads) / 1000,
        "save_us": median(saves) / 1000,
        "save_load_us": median(both) / 1000,
    }


def _resolve(sampled: Sequence[Position]) -> Figures:
    took: dict[str, list[int]] = {"load": [], "rules": [], "messages": [], "save": [], "total": []}
    for each in sampled:
        began = perf_counter_ns()
        table = load(each.saved)
        loaded = perf_counter_ns()
        step = table.answer(each.seat, each.decision, each.picks)
        answered = perf_counter_ns()
        resolved = Resolved()
        fill(resolved, table, step)
        resolved.SerializeToString()
        ended = perf_counter_ns()
        # Saving is a part of filling the message, and measured once more to tell it from the rest.
        table.save()
        saving = perf_counter_ns() - ended
        took["load"].append(loaded - began)
        took["rules"].append(answered - loaded)
        took["messages"].append(ended - answered - saving)
        took["save"].append(saving)
        took["total"].append(ended - began)
    return {f"{stage}_us": median(times) / 1000 for stage, times in took.items()}
