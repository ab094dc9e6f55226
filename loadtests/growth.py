"""Whether a move costs more the more games are open: `python -m loadtests.growth`."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Annotated

import typer
import uvloop
from grpc import aio
from pydantic import SecretStr
from redis import Redis
from rich.console import Console
from rich.progress import Progress

from loadtests.measuring import Figures, Results, machine, medians
from loadtests.recording import record
from loadtests.report import growth_met, report_growth
from loadtests.turn import Replay
from roundtable.session.v1.session_pb2_grpc import SessionServiceStub
from services.runtime.backend import start_services
from services.runtime.embedded import StoreMissing, start_store
from services.runtime.processes import Processes, ProcessFailed, termination_interrupts
from services.runtime.settings import Settings

SCHEMA = 1
LEVELS = (100, 1_000, 10_000)
QUICK_LEVELS = (10, 20, 40)
REPEATS = 9
RESULTS = Path("bench-store.json")

_GAME = "camelot"
_SEATS = 5
_SEED = 1
_RECORDINGS = 12
_MOVING = 200
"""Games of a store that go on; the others just are there."""
_MOVES = 2
"""Of each game that goes on, in each repeat: so those of all stores are equally far."""
_CHANNELS = 8
_CREATING = 32
"""Games that are being created at a time."""


@dataclass
class _Level:
    """A store with so many games, and those of them that go on."""

    store: Redis
    moving: list[Replay]
    created: Figures
    made: int = 0
    """Moves of each game that goes on."""

    async def play(self, random: Random) -> Figures:
        """Moves one after another, the games in random order."""
        numbers = range(self.made, self.made + _MOVES)
        turns = [(game, number) for number in numbers for game in random.sample(self.moving, len(self.moving))]
        before = _cpu_ms(self.store)
        took = [await game.move(number) for game, number in turns]
        cpu = _cpu_ms(self.store) - before
        self.made += _MOVES
        return {"move_ms": median(took) * 1000, "store_cpu_ms": cpu / len(took)}


def main(
    repeats: Annotated[int, typer.Option(min=1, help="how often each figure is taken")] = REPEATS,
    quick: Annotated[bool, typer.Option("--quick", help="with few games, to see that it works")] = False,
    results: Annotated[Path, typer.Option(help="where the results go")] = RESULTS,
) -> None:
    """Measure moves while few and while many games are open; fail if many make them slower."""
    notes = Console(stderr=True)
    try:
        with (
            termination_interrupts(),
            tempfile.TemporaryDirectory(prefix="roundtable-bench-") as folder,
            Processes(logs=Path(folder)) as processes,
            Progress(console=notes, transient=True, disable=not notes.is_terminal) as progress,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
        ):
            levels = QUICK_LEVELS if quick else LEVELS
            try:
                open_games = runner.run(_growth(processes, Path(folder), levels, repeats, progress))
            except Exception:
                processes.check()  # a process that ended is the better explanation
                raise
    except (ProcessFailed, StoreMissing) as error:
        notes.print(f"bench: {error}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(1) from error
    few, many = (open_games[str(games)]["move_ms"] for games in (levels[0], levels[-1]))
    found: Results = {
        "schema": SCHEMA,
        "machine": machine(),
        "repeats": repeats,
        "quick": quick,
        "open": open_games,
        "ratio": many / few,
    }
    results.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    console = Console(highlight=False)
    for part in report_growth(found):
        console.print(part)
    notes.print(f"written to {results}", highlight=False)
    if not quick and not growth_met(found):
        raise typer.Exit(1)


async def _growth(
    processes: Processes, folder: Path, levels: Sequence[int], repeats: int, progress: Progress
) -> dict[str, Figures]:
    """All stores stand side by side, each with a session process of its own, and take turns."""
    random = Random(_SEED)
    stores = [start_store(processes, folder / str(games)) for games in levels]
    settings = Settings(allow_seeds=True)
    engine = start_services(processes, settings, ("engine",))["engine"].address
    recordings = [await record(engine, _GAME, _SEATS, _SEED + number) for number in range(_RECORDINGS)]
    if min(len(each.moves) for each in recordings) < repeats * _MOVES:
        raise typer.BadParameter("the games are over before so many repeats")
    async with AsyncExitStack() as channels:
        opened: dict[str, _Level] = {}
        for games, url in zip(levels, stores, strict=True):
            own = settings.model_copy(update={"store_url": SecretStr(url), "engine_addresses": (engine,)})
            address = processes.serve("session", own).address
            # Without the option, channels to one address share a connection.
            apart = [("grpc.use_local_subchannel_pool", 1)]
            stubs = [
                SessionServiceStub(await channels.enter_async_context(aio.insecure_channel(address, options=apart)))
                for _ in range(_CHANNELS)
            ]
            replays = [
                Replay(stub, recording)
                for stub, recording in islice(zip(cycle(stubs), cycle(recordings), strict=False), games)
            ]
            store = channels.enter_context(Redis.from_url(url))
            created = await _create(store, replays, progress)
            opened[str(games)] = _Level(store, random.sample(replays, min(_MOVING, games)), created)
        taken: dict[str, list[Figures]] = {name: [] for name in opened}
        for _ in progress.track(range(repeats), description="moves"):
            for name, level in opened.items():
                taken[name].append(await level.play(random))
    return {name: {**opened[name].created, **figures} for name, figures in medians(taken).items()}


async def _create(store: Redis, replays: Sequence[Replay], progress: Progress) -> Figures:
    task = progress.add_task(f"{len(replays):,} games", total=len(replays))
    before, began = store.info("memory")["used_memory"], perf_counter()
    waiting = iter(replays)

    async def work() -> None:
        for replay in waiting:
            await replay.create()
            progress.advance(task)

    async with asyncio.TaskGroup() as workers:
        for _ in range(_CREATING):
            workers.create_task(work())
    elapsed = perf_counter() - began
    return {
        "bytes_per_game": (store.info("memory")["used_memory"] - before) / len(replays),
        "created_per_s": len(replays) / elapsed,
    }


def _cpu_ms(store: Redis) -> float:
    used = store.info("cpu")
    return float(used["used_cpu_user"] + used["used_cpu_sys"]) * 1000


if __name__ == "__main__":
    typer.run(main)
