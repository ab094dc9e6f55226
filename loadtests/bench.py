"""How fast the rules, saved tables and the whole path of a move are, all in one run: `python -m loadtests.bench`."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
import uvloop
from pydantic import SecretStr
from rich.console import Console
from rich.progress import Progress

from engine.catalogue import GAMES
from loadtests import measuring, store, tables, turn
from loadtests.measuring import Figures, Measure, Results
from loadtests.recording import Recording, can, record
from loadtests.report import report
from services.runtime.backend import start_services
from services.runtime.embedded import StoreMissing, start_store
from services.runtime.processes import Processes, ProcessFailed, termination_interrupts
from services.runtime.settings import Settings

SCHEMA = 1
IN_FLIGHT = (1, 8, 32)
RESULTS = Path("bench.json")


@dataclass(frozen=True)
class Extent:
    """How much is measured."""

    repeats: int
    games: int
    """Random games for each figure of the rules, and for the sample of positions."""
    recordings: int
    """Different games that are played through the services."""
    seconds: float
    """Of play through the services, for each figure."""
    long_game_moves: int = store.LONG_GAME_MOVES


FULL = Extent(repeats=5, games=40, recordings=12, seconds=2.0)
QUICK = Extent(repeats=1, games=10, recordings=2, seconds=0.3, long_game_moves=40)


def main(
    repeats: Annotated[int | None, typer.Option(min=1, help="how often each figure is taken; 5 if left out")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="take little of everything, to see that it works")] = False,
    results: Annotated[Path, typer.Option(help="where the results go")] = RESULTS,
) -> None:
    """Measure the rules, saved tables and the whole path of a move."""
    extent = QUICK if quick else FULL
    notes = Console(stderr=True)
    try:
        with Progress(console=notes, transient=True, disable=not notes.is_terminal) as progress:
            found = bench(extent, repeats or extent.repeats, progress)
    except (ProcessFailed, StoreMissing) as error:
        notes.print(f"bench: {error}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(1) from error
    results.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    console = Console(highlight=False)
    for part in report(found):
        console.print(part)
    notes.print(f"written to {results}", highlight=False)


def bench(extent: Extent, repeats: int, progress: Progress) -> Results:
    """Takes all measures.

    Raises:
        ProcessFailed: a process did not start, or ended by itself.
        StoreMissing: there is no store server to start.
    """
    sampled = {game.id: tables.positions(game, extent.games) for game in GAMES}
    measures: dict[measuring.Path, Measure] = dict(tables.engine_measures(extent.games))
    for game in GAMES:
        measures.update(tables.state_measures(game, sampled[game.id]))
    with (
        termination_interrupts(),
        tempfile.TemporaryDirectory(prefix="roundtable-bench-") as folder,
        Processes(logs=Path(folder)) as processes,
        # The same loop for all measures, as gRPC bears only one in a process well.
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        settings = Settings(store_url=SecretStr(start_store(processes, Path(folder))), allow_seeds=True)
        services = start_services(processes, settings, ("engine", "session"))
        sizes: Results = {"games": {}}
        for game in GAMES:
            seats = tables.some_seats(game)[1]
            seeds = range(tables.SEED, tables.SEED + extent.recordings)
            recordings = [runner.run(record(services["engine"].address, game.id, seats, seed)) for seed in seeds]
            sizes["games"][game.id] = runner.run(store.sizes(settings, services["session"].address, recordings[0]))
            bare = _start_bare(processes, settings, recordings, Path(folder) / f"{game.id}.recording")
            pipelines = {"": services["session"].address, "bare_": bare}
            for in_flight in IN_FLIGHT:
                measures["turn", game.id, str(in_flight)] = partial(
                    _turn, runner, pipelines, recordings, in_flight, extent.seconds
                )
        settings = settings.model_copy(update={"engine_addresses": (services["engine"].address,)})
        long_game = runner.run(store.long_game_bytes(settings, extent.long_game_moves))
        sizes["long_game"] = {"moves": extent.long_game_moves, "trimmed_bytes": long_game}
        task = progress.add_task("", total=repeats * len(measures))

        def began(path: measuring.Path) -> None:
            progress.update(task, description=" ".join(path), advance=1)

        try:
            results = measuring.nest(measuring.interleave(measures, repeats, began=began))
        except Exception:
            processes.check()  # a process that ended is the better explanation
            raise
    for game in GAMES:
        results["state"][game.id]["bytes"] = tables.state_bytes(sampled[game.id])
    return {
        "schema": SCHEMA,
        "machine": measuring.machine(),
        "repeats": repeats,
        "quick": extent is QUICK,
        **results,
        "store": sizes,
    }


def _start_bare(processes: Processes, settings: Settings, recordings: Sequence[Recording], canned: Path) -> str:
    """Starts the bare pipeline for these games; gives the address of its front."""
    canned.write_bytes(can(recordings))
    python = [sys.executable, "-m"]
    back = processes.serve("bare-back", settings, [*python, "loadtests.bare.back", str(canned)])
    settings = settings.model_copy(update={"engine_addresses": (back.address,)})
    return processes.serve("bare-front", settings, [*python, "loadtests.bare.front"]).address


def _turn(
    runner: asyncio.Runner,
    pipelines: dict[str, str],
    recordings: Sequence[Recording],
    in_flight: int,
    seconds: float,
) -> Figures:
    """The services and the bare pipeline one after the other, so that their ratio is of the same moment."""
    figures = {
        prefix + name: figure
        for prefix, address in pipelines.items()
        for name, figure in runner.run(turn.measure(address, recordings, in_flight, seconds)).items()
    }
    return {**figures, "ratio": figures["moves_per_s"] / figures["bare_moves_per_s"]}


if __name__ == "__main__":
    typer.run(main)
