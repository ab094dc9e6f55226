"""Players that know nothing but the contracts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress
from random import Random

from clients.choosing import choose_at_random
from clients.sdk import AlreadyApplied, DecisionClosed, Refused, Seat
from roundtable.session.v1.session_pb2 import Said
from roundtable.table.v1.table_pb2 import Decision, Update


def picks_at_random(random: Random, decision: Decision) -> list[str]:
    """A legal answer, as ids of options."""
    alone = [option.alone for option in decision.options]
    places = choose_at_random(random, alone, decision.min, decision.max, ordered=decision.ordered)
    return [decision.options[place].id for place in places]


async def say_at_random(seat: Seat, random: Random) -> None:
    """Says something that the seat may say, true or not, unless it has just said that."""
    with suppress(Refused):
        if declarations := await seat.declarations():
            await seat.say(random.choice(declarations))


async def play_at_random(
    seat: Seat,
    random: Random,
    *,
    pause: float = 0.0,
    talk: float = 0.0,
    saw: Callable[[Update], None] = lambda _update: None,
    heard: Callable[[Said], None] = lambda _said: None,
) -> None:
    """Plays a seat to the end of its game.

    Args:
        pause: seconds of thought before each choice.
        talk: how likely something is said before a choice, 0 to 1.
        saw: told of every update in the seat's feed, the last of which has the outcome.
        heard: told of everything that is said.
    """
    answered = ""
    async with aclosing(seat.watch(heard=heard)) as feed:
        async for entry in feed:
            saw(entry.update)
            decision = entry.update.decision
            # A snapshot that still asks says that an answer was lost with the store.
            if not decision.id or (decision.id == answered and entry.view is None):
                continue
            answered = decision.id
            await asyncio.sleep(pause)
            if talk and random.random() < talk:
                await say_at_random(seat, random)
            # The feed goes on in any case, and brings what came of it.
            with suppress(DecisionClosed, AlreadyApplied):
                await seat.choose(decision, picks_at_random(random, decision))
