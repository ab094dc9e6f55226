"""One random fault every second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from loadtests.faults.stage import Victim

_PERIOD_SECONDS = 1.0


@dataclass(frozen=True)
class Injected:
    kind: str
    began: float
    ended: float
    """When the victim served again."""


async def inject(
    victims: Sequence[Victim], seconds: float, random: Random, told: Callable[[str], None]
) -> list[Injected]:
    """Puts random victims into trouble for so long, and waits until the last is out of it. Everything that can happen
    happens once before anything happens again; at first things are killed, so that short runs have that too.

    Args:
        told: of each fault, when it begins.
    """
    injected: list[Injected] = []
    troubled: set[str] = set()
    bag: list[tuple[Victim, str]] = []

    async def carry_out(victim: Victim, kind: str) -> None:
        began = time.monotonic()
        try:
            await victim.acts[kind](random)
            injected.append(Injected(kind, began, time.monotonic()))
        finally:
            troubled.discard(victim.group)

    over = time.monotonic() + seconds
    async with asyncio.TaskGroup() as group:
        while time.monotonic() < over:
            await asyncio.sleep(_PERIOD_SECONDS)
            if not bag:
                bag = [(victim, kind) for victim in victims for kind in victim.acts]
                random.shuffle(bag)
                if not injected:
                    bag.sort(key=lambda drawn: "killed" not in drawn[1])
            drawn = next((drawn for drawn in bag if drawn[0].group not in troubled), None)
            if drawn is None:
                continue
            bag.remove(drawn)
            victim, kind = drawn
            troubled.add(victim.group)
            told(f"{kind}: {victim.name}")
            group.create_task(carry_out(victim, kind))
    return injected
