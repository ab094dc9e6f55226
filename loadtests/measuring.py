"""Figures that can be compared: repeats that take turns, and medians of them."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from statistics import median, quantiles
from typing import Any, NamedTuple, TypeVar

Figures = Mapping[str, float]
Path = tuple[str, ...]
"""Where a measure's figures stand in the results: `("engine", "camelot", "5")`."""
Measure = Callable[[], Figures]
Results = dict[str, Any]
Key = TypeVar("Key")


def interleave(
    measures: Mapping[Path, Measure], repeats: int, *, began: Callable[[Path], None] = lambda _: None
) -> dict[Path, Figures]:
    """Takes every measure once in each repeat, so that a slow moment of the machine meets all alike, and gives the
    median of each figure.

    Args:
        began: told before each measure is taken.
    """
    taken: dict[Path, list[Figures]] = {path: [] for path in measures}
    for _ in range(repeats):
        for path, measure in measures.items():
            began(path)
            taken[path].append(measure())
    return medians(taken)


def medians(taken: Mapping[Key, Sequence[Figures]]) -> dict[Key, Figures]:
    """The median of each figure over its repeats, of which there is at least one."""
    return {
        key: {name: median(figures[name] for figures in repeated) for name in repeated[0]}
        for key, repeated in taken.items()
    }


def nest(figures: Mapping[Path, Figures]) -> Results:
    """Figures by path as mappings within mappings."""
    results: Results = {}
    for path, values in figures.items():
        place = results
        for name in path:
            place = place.setdefault(name, {})
        place.update(values)
    return results


def machine() -> dict[str, str | int]:
    """What the figures were taken on."""
    return {"cores": os.cpu_count() or 1, "python": platform.python_version(), "platform": platform.platform()}


class Spread(NamedTuple):
    p50: float
    p95: float
    p99: float


def spread(values: Sequence[float]) -> Spread:
    """Percentiles of at least two values."""
    hundredths = quantiles(values, n=100, method="inclusive")
    return Spread(hundredths[49], hundredths[94], hundredths[98])
