"""Plays games while processes are killed and answers get lost, and proves from what the clients saw that no move was
lost, doubled or leaked: `python -m loadtests.faults --minutes 2`."""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random, SystemRandom
from typing import Annotated

import typer
import uvloop
from grpc import aio
from rich import box
from rich.console import Console
from rich.table import Table

from loadtests.faults.checker import DONE, Finding, Kind, check
from loadtests.faults.history import Try
from loadtests.faults.injection import Injected, inject
from loadtests.faults.leaks import find_leaks
from loadtests.faults.load import Load, Played
from loadtests.faults.pauses import Pause, limit, longest_by_kind, pauses, too_long
from loadtests.faults.record import final_record
from loadtests.faults.stage import ClusterStore, SingleStore, Stage, StoreUnderFaults, services_on
from services.runtime.embedded import StoreMissing
from services.runtime.folders import scratch_folder
from services.runtime.processes import ProcessFailed, termination_interrupts
from services.runtime.store import open_store
from services.session.store import games_of

MakeStore = Callable[[Path], AbstractAsyncContextManager[StoreUnderFaults]]

PHASES: Mapping[str, MakeStore] = {
    "single": lambda folder: SingleStore(folder).running(),
    "cluster": lambda folder: ClusterStore(folder).running(),
}

GAMES = 50
"""At once; fewer in shorter runs, whose games would not be finished else."""
GAMES_A_MINUTE = 25
FAULTS_A_MINUTE = 30
MOVES_A_MINUTE = 2500

_DATA = Path(".data")
_METRICS_SECONDS = 3.0
_FINISHING_SECONDS = 180.0
_PACE_JUDGED_MINUTES = 1.0
"""How long a run is at least that fails for long pauses, or for too few faults and moves."""
_FINDINGS_SHOWN = 20

_console = Console(highlight=False, soft_wrap=True)


@dataclass
class Outcome:
    """What came of a phase."""

    moves: int = 0
    """Acknowledged."""
    games: int = 0
    attempts: int = 0
    faults: list[Injected] = field(default_factory=list)
    pauses: list[Pause] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def count(self, kind: Kind) -> int:
        return sum(finding.kind is kind for finding in self.findings)


def main(
    minutes: Annotated[float, typer.Option(min=0.1, help="how long there are faults, all phases together")] = 2.0,
    phase: Annotated[list[str] | None, typer.Option(help="only this phase; can be repeated")] = None,
    seed: Annotated[int | None, typer.Option(help="decides the faults and the players' choices")] = None,
    keep: Annotated[Path | None, typer.Option(help="where to leave histories and logs")] = None,
) -> None:
    """Prove that no move is lost, doubled or leaked, whatever is killed."""
    names = phase or list(PHASES)
    if unknown := set(names) - PHASES.keys():
        raise typer.BadParameter(f"no such phase: {', '.join(unknown)}; there is {', '.join(PHASES)}")
    seed = SystemRandom().randrange(1 << 32) if seed is None else seed
    _console.print(f"seed {seed}")
    outcomes = {}
    try:
        with termination_interrupts(), scratch_folder(_DATA, "faults") as scratch:
            for number, name in enumerate(names):
                folder = (keep or scratch) / name
                folder.mkdir(parents=True, exist_ok=True)
                random = Random(f"{seed}/{name}")
                run = _phase(name, folder.resolve(), 60 * minutes / len(names), random, 100_000 * number)
                outcomes[name] = uvloop.run(run)
    except (OSError, ProcessFailed, StoreMissing) as error:
        _console.print(f"faults: {error}", markup=False)
        sys.exit(1)
    sys.exit(0 if _report(outcomes, minutes) else 1)


async def _phase(name: str, folder: Path, seconds: float, random: Random, first_seed: int) -> Outcome:
    outcome = Outcome()
    games = min(GAMES, math.ceil(GAMES_A_MINUTE * seconds / 30))
    histories = folder / "histories"
    async with PHASES[name](folder / "store") as store, services_on(store, folder / "logs") as stage:
        _console.print(f"{name}: {games} games at once, faults for {seconds:.0f} s")
        load = Load(
            stage.target("session"),
            stage.target("matchmaking"),
            histories,
            games=games,
            first_seed=first_seed,
            random=random,
        )
        watching = asyncio.create_task(_keep_metrics(stage, folder / "metrics.txt"))
        began = time.monotonic()
        with (folder / "faults.txt").open("w", encoding="utf-8") as told:
            playing = asyncio.create_task(load.play(seconds))
            injecting = asyncio.create_task(
                inject(
                    stage.victims,
                    seconds,
                    random,
                    lambda text: print(f"{time.monotonic() - began:7.2f} {text}", file=told, flush=True),
                )
            )
            done, _ = await asyncio.wait(
                [playing, injecting], timeout=seconds + _FINISHING_SECONDS, return_when=asyncio.FIRST_EXCEPTION
            )
            for task in done:
                task.result()
            if playing not in done:
                outcome.findings.append(Finding(Kind.UNFINISHED, "games did not come to their ends"))
                playing.cancel()
                await asyncio.wait([playing])
        outcome.faults = await injecting
        _console.print(f"{name}: {len(load.played)} games finished after {time.monotonic() - began:.0f} s")
        watching.cancel()
        await _judge(stage, load.played, outcome)
        (folder / "names.txt").write_text("\n".join(store.names()), encoding="utf-8")
    written = [*(folder / "logs").rglob("*.log"), *(folder / "store").rglob("*.log"), *folder.glob("*.txt")]
    for leak in find_leaks(load.secrets, [*written, histories / "errors.txt"]):
        outcome.findings.append(Finding(Kind.LEAKED, leak))
    return outcome


async def _keep_metrics(stage: Stage, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        while True:
            await asyncio.sleep(_METRICS_SECONDS)
            for service in stage.services:
                file.write(await service.metrics())


async def _judge(stage: Stage, games: Sequence[Played], outcome: Outcome) -> None:
    """Checks every game against its final record, and counts."""
    async with (
        open_store(stage.settings.store_url.get_secret_value() if stage.settings.store_url else "") as store,
        aio.insecure_channel(stage.addresses("session")[0]) as sessions,
        aio.insecure_channel(stage.addresses("engine")[0]) as engines,
    ):
        salts = games_of(store, stage.settings)
        for played in games:
            seen = played.seen()
            outcome.games += 1
            outcome.findings += [Finding(Kind.UNFINISHED, failure) for failure in played.failures]
            outcome.pauses += pauses(seen)
            tries = [line for lines in seen.values() for line in lines if isinstance(line, Try)]
            outcome.attempts += len(tries)
            outcome.moves += len({each.request for each in tries if each.call == "Choose" and each.answer in DONE})
            if not played.id:
                outcome.findings.append(Finding(Kind.UNFINISHED, f"the game of seed {played.opening.seed} never began"))
                continue
            lines = [line for lines in seen.values() for line in lines]
            try:
                record = await final_record(salts, sessions, engines, played.id, played.opening, lines)
            except RuntimeError as error:
                outcome.findings.append(Finding(Kind.CONTENT, str(error)))
                continue
            outcome.findings += check(record, seen)


def _report(outcomes: Mapping[str, Outcome], minutes: float) -> bool:
    """Prints what came of it; tells whether everything is as it must be."""
    figures = Table(box=box.SIMPLE, title="Faults", title_justify="left")
    for name in ("phase", "kind of fault"):
        figures.add_column(name)
    for name in ("times", "longest pause, s", "allowed, s"):
        figures.add_column(name, justify="right")
    exceeded: list[str] = []
    for phase, outcome in outcomes.items():
        times = Counter(fault.kind for fault in outcome.faults)
        longest = longest_by_kind(outcome.pauses, outcome.faults)
        exceeded += too_long(phase, longest)
        for kind in sorted({*times, *longest}):
            pause = f"{longest[kind]:.2f}" if kind in longest else ""
            figures.add_row(phase, kind, str(times[kind]), pause, f"{limit(phase, kind):.0f}")
    _console.print(figures)
    totals = Table(box=box.SIMPLE, title="Games", title_justify="left")
    totals.add_column("")
    for phase in outcomes:
        totals.add_column(phase, justify="right")
    rows: list[tuple[str, Callable[[Outcome], int]]] = [
        ("games", lambda outcome: outcome.games),
        ("acknowledged moves", lambda outcome: outcome.moves),
        ("attempts", lambda outcome: outcome.attempts),
        ("faults", lambda outcome: len(outcome.faults)),
        *((str(kind), partial(Outcome.count, kind=kind)) for kind in Kind),
    ]
    for name, figure in rows:
        totals.add_row(name, *(f"{figure(outcome):,}" for outcome in outcomes.values()))
    _console.print(totals)
    findings = [(phase, finding) for phase, outcome in outcomes.items() for finding in outcome.findings]
    for phase, finding in findings[:_FINDINGS_SHOWN]:
        _console.print(f"{phase}: {finding.kind}: {finding.text}", markup=False)
    moves = sum(outcome.moves for outcome in outcomes.values())
    faults = sum(len(outcome.faults) for outcome in outcomes.values())
    enough = True
    demanded = ((faults, FAULTS_A_MINUTE * minutes, "faults"), (moves, MOVES_A_MINUTE * minutes, "moves"))
    for number, least, what in demanded:
        if number < least:
            enough = False
            _console.print(f"only {number:,} {what}; {least:,.0f} are demanded")
    for line in exceeded:
        _console.print(line, markup=False)
    lost, doubled, leaked = (
        sum(outcome.count(kind) for outcome in outcomes.values()) for kind in (Kind.LOST, Kind.DOUBLED, Kind.LEAKED)
    )
    _console.print(f"lost {lost}, doubled {doubled}, leaked {leaked}")
    # In a short run one slow second of the machine would decide.
    well_paced = minutes < _PACE_JUDGED_MINUTES or (enough and not exceeded)
    return well_paced and not findings


if __name__ == "__main__":
    typer.run(main)
