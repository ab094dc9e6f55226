"""Games in this process, played by random choices: the rules alone, without services."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from random import Random

from rich.console import Group
from rich.table import Table as Grid

from clients.choosing import choose_at_random
from engine.core.chance import Seed
from engine.core.games import AnyGame
from engine.core.table import Table

# Far beyond every game of ours: one that gets there has no end.
LONGEST = 100_000


@dataclass(frozen=True)
class Report:
    """What came of the games. Rates are per second of play."""

    game: str
    players: int
    games: int
    seed: int
    finished: int
    decisions: int
    seconds: float
    decisions_per_s: float
    games_per_s: float
    outcomes: Mapping[str, int]
    """How many games had each ending; those that none had are here too."""

    def for_programs(self) -> dict[str, object]:
        return {name: round(value, 3) if isinstance(value, float) else value for name, value in asdict(self).items()}

    def for_people(self) -> Group:
        grid = Grid("ending")
        grid.add_column("games", justify="right")
        grid.add_column("share", justify="right")
        for ending, number in self.outcomes.items():
            grid.add_row(ending.replace("_", " "), f"{number:,}", f"{number / self.games:.1%}")
        grid.add_section()
        grid.add_row("finished", f"{self.finished:,}", f"{self.finished / self.games:.1%}")
        return Group(
            f"{self.game}, {self.players} players, seed {self.seed}",
            grid,
            f"{self.decisions:,} decisions, {self.decisions_per_s:,.0f}/s; {self.games_per_s:,.1f} games/s",
        )


def simulate(
    game: AnyGame, players: int, options: Mapping[str, str], games: int, seed: int, *, played: Callable[[], None]
) -> Report:
    """Plays games one after another; the seed decides every deal and every choice.

    Args:
        played: told after each game.

    Raises:
        Refusal: a number of players or an option that the game does not take; before the first game.
    """
    random = Random(seed)
    outcomes = dict.fromkeys(game.endings, 0)
    decisions = 0
    began = time.perf_counter()
    for _ in range(games):
        table, _step = Table.new(game, players, options, Seed.fixed(random.getrandbits(64)))
        decisions += play_at_random(table, random)
        if table.outcome is not None:
            outcomes[table.outcome.ending] += 1
        played()
    seconds = time.perf_counter() - began
    finished = sum(outcomes.values())
    return Report(
        game.id, players, games, seed, finished, decisions, seconds, decisions / seconds, games / seconds, outcomes
    )


def play_at_random(table: Table, random: Random) -> int:
    """Plays a table to its end, or to `LONGEST` decisions; gives their number."""
    for decisions in range(LONGEST):
        if table.outcome is not None:
            return decisions
        seat = random.choice(table.asked)
        question = table.question(seat)
        assert question is not None, "whoever is asked has a question"
        alone = [option.alone for option in question.options]
        places = choose_at_random(random, alone, question.least, question.most, ordered=question.ordered)
        table.answer_places(seat, tuple(places))
    return LONGEST
