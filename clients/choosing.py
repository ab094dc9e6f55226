"""Random legal answers."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random


def choose_at_random(random: Random, alone: Sequence[bool], least: int, most: int, *, ordered: bool) -> list[int]:
    """A legal answer as places in the list of options.

    Args:
        alone: for each option, whether it stands only alone.
        least: fewest picks.
        most: most picks.
        ordered: the order of the picks matters.
    """
    first = random.randrange(len(alone))
    if alone[first] or least == most == 1:
        return [first]
    together = [place for place, only in enumerate(alone) if not only]
    if len(together) < least:
        return [alone.index(True)]
    picks = random.sample(together, random.randint(least, min(most, len(together))))
    return picks if ordered else sorted(picks)
