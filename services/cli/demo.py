"""Whole games through all services, started for this and stopped afterwards."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from math import ceil
from pathlib import Path

import uvloop
from rich.console import Console

from clients.gathering import Gathering
from clients.sdk import CallFailed, connect
from clients.terminal.boards import board_of
from clients.terminal.screens import Screen, result, screen_of
from services.cli import records
from services.cli.flags import failed
from services.runtime.backend import Backend, start_backend
from services.runtime.embedded import StoreMissing
from services.runtime.folders import scratch_folder
from services.runtime.processes import Processes, ProcessFailed, termination_interrupts
from services.runtime.settings import Settings

DATA = Path(".data")
INTERRUPTED = 130

_CHECK_SECONDS = 0.5
_STALL_SECONDS = 60.0


class Stalled(Exception):
    """No game went on for too long."""


def demo(gathering: Gathering, settings: Settings, record: Path | None = None) -> int:
    """Plays a gathering's games on a backend of its own; gives the exit status, 0 only if all were finished.

    Args:
        record: file for the record of its game.
    """
    console = Console(highlight=False)
    latencies: list[float] = []
    status = 1
    try:
        with termination_interrupts():
            _on_own_backend(gathering, settings, console, latencies, record)
        status = 0 if gathering.finished == gathering.total else 1
    except KeyboardInterrupt:
        status = INTERRUPTED
    except (CallFailed, OSError, ProcessFailed, Stalled, StoreMissing) as error:
        failed(str(error))
    _report(gathering, latencies, console)
    return status


def _on_own_backend(
    gathering: Gathering, settings: Settings, console: Console, latencies: list[float], record: Path | None
) -> None:
    with scratch_folder(DATA, "demo") as folder, Processes(folder / "logs") as processes:
        began = time.monotonic()
        backend = start_backend(processes, settings, folder / "store")
        console.print(f"store, engine, session and matchmaking started in {time.monotonic() - began:.1f} s")
        uvloop.run(_play(gathering, backend, processes, screen_of(console, gathering.game), latencies, record))
    if record is not None:
        console.print(f"record of the game: {record}; roundtable verify plays it again", markup=False, soft_wrap=True)


async def _play(
    gathering: Gathering,
    backend: Backend,
    processes: Processes,
    screen: Screen,
    latencies: list[float],
    record: Path | None,
) -> None:
    def measured(call: str, seconds: float) -> None:
        if call == "Choose":
            latencies.append(seconds)

    async with connect(backend.session.address, backend.matchmaking.address, measured=measured) as roundtable:
        with screen.lit():
            try:
                async with asyncio.TaskGroup() as group:
                    around = [
                        group.create_task(_follow(gathering, screen)),
                        group.create_task(_guard(gathering, processes)),
                    ]
                    await gathering.play(roundtable)
                    for task in around:
                        task.cancel()
            except BaseExceptionGroup as errors:
                raise _first(errors) from errors
            screen.show(gathering)
        if record is not None:
            records.write(record, await gathering.games[0].record())


async def _follow(gathering: Gathering, screen: Screen) -> None:
    while True:
        if gathering.total == 1:
            for game in gathering.games:
                await game.look()
        screen.show(gathering)
        await asyncio.sleep(screen.period)


async def _guard(gathering: Gathering, processes: Processes) -> None:
    moves, since = -1, time.monotonic()
    while True:
        processes.check()
        if gathering.moves != moves:
            moves, since = gathering.moves, time.monotonic()
        elif time.monotonic() - since > _STALL_SECONDS:
            raise Stalled(f"no game went on for {_STALL_SECONDS:.0f} s")
        await asyncio.sleep(_CHECK_SECONDS)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


def _report(gathering: Gathering, latencies: Sequence[float], console: Console) -> None:
    board = board_of(gathering.game)
    for number, game in enumerate(gathering.games, 1):
        if game.finished:
            console.print(f"game {number}: {result(game, board)}", soft_wrap=True)
    if latencies:
        figures = ", ".join(f"p{percent} {_percentile(latencies, percent) * 1000:.1f} ms" for percent in (50, 95, 99))
        console.print(f"resolving a move, as the players measured {len(latencies)} of them: {figures}", soft_wrap=True)
    console.print(f"{gathering.finished}/{gathering.total} games finished")


def _percentile(values: Sequence[float], percent: int) -> float:
    """By the nearest rank."""
    return sorted(values)[ceil(len(values) * percent / 100) - 1]
