"""Players that know nothing but the contracts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress
from random import Random

from clients.choosing import choose_at_random
from clients.sdk import AlreadyApplied, DecisionClosed, Seat
from roundtable.table.v1.table_pb2 import Decision, Update


def picks_at_random(random: Random, decision: Decision) -> list[str]:
    """A legal answer, as ids of options."""
    alone = [option.alone for option in decision.options]
    places = choose_at_random(random, alone, decision.min, decision.max, ordered=decision.ordered)
    return [decision.options[place].id for place in places]


async def play_at_random(
    seat: Seat, random: Random, *, pause: float = 0.0, saw: Callable[[Update], None] = lambda _update: None
) -> None:
    """Plays a seat to the end of its game.

    Args:
        pause: seconds of thought before each choice.
        saw: told of every update in the seat's feed, the last of which has the outcome.
    """
    answered = ""
    async with aclosing(seat.watch()) as feed:
        async for entry in feed:
            saw(entry.update)
            decision = entry.update.decision
            # A snapshot that still asks says that an answer was lost with the store.
            if not decision.id or (decision.id == answered and entry.view is None):
                continue
            answered = decision.id
            await asyncio.sleep(pause)
            # The feed goes on in any case, and brings what came of it.
            with suppress(DecisionClosed, AlreadyApplied):
                await seat.choose(decision, picks_at_random(random, decision))
