"""Watches at a process that does not hear the store yet, or no longer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from roundtable.session.v1 import session_pb2
from services.runtime.errors import Reason, ServiceError
from services.runtime.server import Ready
from services.runtime.settings import Settings, required
from services.runtime.store import open_store
from services.session.engines import open_engines
from services.session.keys import find_game
from services.session.presence import Presence
from services.session.store import games_of
from services.session.tails import Tails
from services.session.views import Views
from services.session.watching import Watches
from tests.integration.seats import SECONDS, client_of


@dataclass
class Watcher:
    """One watch of a new game, in this process, which hears nothing before it is told to listen."""

    tails: Tails
    watch: asyncio.Task[None]
    got: list[session_pb2.WatchResponse] = field(default_factory=list)

    async def until_heartbeat(self) -> None:
        async with asyncio.timeout(SECONDS):
            while not any(each.HasField("heartbeat") for each in self.got):
                await asyncio.sleep(0.01)


@pytest.fixture
async def watcher(settings: Settings, sessions: tuple[Ready, Ready]) -> AsyncIterator[Watcher]:
    async with client_of(sessions[0].address) as [session]:
        game = find_game((await session.create()).game_id)
    got: list[session_pb2.WatchResponse] = []

    async def write(response: bytes) -> None:
        got.append(session_pb2.WatchResponse.FromString(response))

    url = required("store_url", settings.store_url).get_secret_value()
    async with open_store(url) as store, open_engines(settings.engine_addresses, settings) as engines:
        games = games_of(store, settings)
        tails, presence = Tails(store, games), Presence(store, feed_entries=64, lease_seconds=15)
        watches = Watches(
            games, Views(games, engines), tails, presence, heartbeat_seconds=0.05, patience_seconds=SECONDS
        )
        watch = asyncio.create_task(watches.watch(game, None, None, write))
        yield Watcher(tails, watch, got)
        watch.cancel()
        await asyncio.wait([watch])


async def test_a_watch_waits_a_little_for_the_process_to_hear_the_store(watcher: Watcher) -> None:
    await asyncio.sleep(0.5)  # ten times the time of a heartbeat
    assert not watcher.watch.done()
    listening = asyncio.create_task(watcher.tails.listen())

    await watcher.until_heartbeat()

    listening.cancel()
    await asyncio.wait([listening])


async def test_a_watch_that_would_be_told_nothing_is_refused(watcher: Watcher) -> None:
    with pytest.raises(ServiceError) as error:
        await asyncio.wait_for(watcher.watch, SECONDS)

    assert error.value.reason is Reason.STORE_UNAVAILABLE
    assert [each.WhichOneof("entry") for each in watcher.got] == ["snapshot"]
