"""Results for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Table as Grid

from loadtests.measuring import Results

STATE_BYTES = 4096
SAVE_LOAD_US = 100
DECISIONS_PER_S = 5000
LONG_GAME_BYTES = 16 * 1024
GROWTH = 1.2
"""Time of a move with the most games open, by that with the fewest: at most."""


def report(results: Results) -> Iterator[RenderableType]:
    machine = results["machine"]
    yield _rates(results["engine"])
    yield _sizes(results["state"])
    yield _travel(results["state"])
    yield _resolve(results["resolve"])
    yield _turn(results["turn"], machine["cores"])
    yield _store(results["store"])
    yield f"Medians of {results['repeats']} interleaved repeats; {machine['cores']} cores, Python {machine['python']}."
    yield from _targets(results)


def _grid(title: str, *columns: str, caption: str | None = None) -> Grid:
    grid = Grid(title=title, caption=caption, title_justify="left", caption_justify="left")
    grid.add_column(columns[0])
    for column in columns[1:]:
        grid.add_column(column, justify="right")
    return grid


def _rates(engine: Mapping[str, Any]) -> Grid:
    grid = _grid("Rules: random play in one process", "game", "seats", "decisions/s", "games/s")
    for game, by_seats in engine.items():
        for seats, figures in by_seats.items():
            grid.add_row(game, seats, f"{figures['decisions_per_s']:,.0f}", f"{figures['games_per_s']:,.1f}")
    return grid


def _sizes(state: Mapping[str, Any]) -> Grid:
    grid = _grid("Saved tables, in bytes", "game", "median", "p99", "max")
    for game, figures in state.items():
        grid.add_row(game, *(f"{figures['bytes'][name]:,.0f}" for name in ("median", "p99", "max")))
    return grid


def _travel(state: Mapping[str, Any]) -> Grid:
    grid = _grid(
        "Saving and loading by the inputs since the checkpoint, in us",
        *("game", "inputs", "positions", "save", "load", "save and load"),
    )
    for game, figures in state.items():
        for inputs, times in figures["inputs"].items():
            took = (f"{times[name]:.1f}" for name in ("save_us", "load_us", "save_load_us"))
            grid.add_row(game, inputs, f"{times['share']:.0%}", *took)
    return grid


def _resolve(resolve: Mapping[str, Any]) -> Grid:
    stages = ("load", "rules", "messages", "save", "total")
    grid = _grid("One Resolve by stage, in us", "game", *stages)
    for game, figures in resolve.items():
        grid.add_row(game, *(f"{figures[f'{stage}_us']:.1f}" for stage in stages))
    return grid


def _turn(turn: Mapping[str, Any], cores: int) -> Grid:
    grid = _grid(
        "The whole path of a move, every seat watching, beside the bare pipeline",
        *("game", "in flight", "pipeline", "moves/s", "p50 ms", "p95 ms", "p99 ms", "ratio"),
        caption=f"client, session, engine and store shared {cores} cores",
    )
    for game, levels in turn.items():
        for in_flight, figures in levels.items():
            for pipeline, prefix in (("services", ""), ("bare", "bare_")):
                grid.add_row(
                    game,
                    in_flight,
                    pipeline,
                    f"{figures[prefix + 'moves_per_s']:,.0f}",
                    *(f"{figures[f'{prefix}{name}_ms']:.2f}" for name in ("p50", "p95", "p99")),
                    "" if prefix else f"{figures['ratio']:.2f}",
                )
    return grid


def _store(store: Mapping[str, Any]) -> Grid:
    grid = _grid("A game in the store, in bytes", "game", "moves", "open", "half", "finished", "feed trimmed")
    for game, figures in store["games"].items():
        sizes = (f"{figures[f'{name}_bytes']:,}" for name in ("open", "half", "finished", "trimmed"))
        grid.add_row(game, str(figures["moves"]), *sizes)
    return grid


def report_growth(results: Results) -> Iterator[RenderableType]:
    grid = _grid(
        "Moves by the number of open games",
        *("open games", "bytes a game", "created/s", "median ms", "CPU ms of the store a move"),
    )
    for games, figures in results["open"].items():
        grid.add_row(
            f"{int(games):,}",
            f"{figures['bytes_per_game']:,.0f}",
            f"{figures['created_per_s']:,.0f}",
            f"{figures['move_ms']:.2f}",
            f"{figures['store_cpu_ms']:.3f}",
        )
    yield grid
    yield f"Medians of {results['repeats']} interleaved repeats."
    yield _target(f"most by fewest open games: {results['ratio']:.2f}, at most {GROWTH}", growth_met(results))


def growth_met(results: Results) -> bool:
    met: bool = results["ratio"] <= GROWTH
    return met


def _targets(results: Results) -> Iterator[str]:
    for game, figures in results["state"].items():
        size, travel = figures["bytes"]["median"], figures["inputs"]["0"]["save_load_us"]
        slowest = min(each["decisions_per_s"] for each in results["engine"][game].values())
        yield _target(f"{game}: state {size:,.0f} bytes, at most {STATE_BYTES:,}", size <= STATE_BYTES)
        yield _target(f"{game}: save and load {travel:.0f} us, at most {SAVE_LOAD_US}", travel <= SAVE_LOAD_US)
        yield _target(f"{game}: {slowest:,.0f} decisions/s, at least {DECISIONS_PER_S:,}", slowest >= DECISIONS_PER_S)

    long_game = results["store"]["long_game"]
    moves, size = long_game["moves"], long_game["trimmed_bytes"]
    yield _target(f"a game of {moves} moves: {size:,} bytes, at most {LONG_GAME_BYTES:,}", size <= LONG_GAME_BYTES)


def _target(text: str, met: bool) -> str:
    return f"{'met   ' if met else 'MISSED'} {text}"
