"""Matchmaking dies between any two steps from a ticket to its seat."""

from __future__ import annotations

import asyncio
import uuid
from random import Random

import pytest

from services.runtime.processes import Processes
from services.runtime.server import Ready, open_channel
from services.runtime.settings import Settings
from tests.faults.conftest import Stopped, Stopping
from tests.integration.matchmaking_fixtures import Matchmaking, matchmaking
from tests.integration.seats import client_of

STEPS = ("ticket.remembered", "ticket.queued", "match.chosen", "match.claimed", "match.created", "match.settled")
SEATS = 3


@pytest.mark.parametrize("step", STEPS)
async def test_every_ticket_gets_one_seat_of_one_game(
    step: str, stopping: Stopping, processes: Processes, settings: Settings, sessions: tuple[Ready, Ready]
) -> None:
    settings = settings.model_copy(update={"session_address": sessions[0].address})
    ready = await asyncio.to_thread(stopping, "matchmaking", settings, step)
    stopped, seed = Stopped(ready.pid), Random().getrandbits(60)
    requests = [str(uuid.uuid4()) for _ in range(SEATS)]
    async with (
        open_channel(ready.address, settings) as channel,
        matchmaking(processes, settings, seed) as other,
    ):
        first = Matchmaking(ready, channel, seed)
        # The last one makes the match, and here already stops at the first steps.
        early = other if step.startswith("ticket") else first
        for request in requests[:-1]:
            await early.create(request_id=request)
        call = asyncio.create_task(first.create(request_id=requests[-1]))
        await stopped.reached()
        stopped.kill()
        await asyncio.wait([call])

        tickets = [await other.create(request_id=request) for request in requests]
        seats = await other.seats(tickets)

        assert len(set(tickets)) == SEATS
        assert len({seat.game_id for seat in seats}) == 1
        assert sorted(seat.seat for seat in seats) == list(range(SEATS))
        async with client_of(sessions[1].address) as (session,):
            for seat in seats:
                assert (await session.view(seat.game_id, seat.seat_token)).view.seat == seat.seat
        # Nothing is left in the queue: whoever comes next is alone in it.
        assert await other.waiting(await other.create()) == 1
