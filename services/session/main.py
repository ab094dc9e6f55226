"""Composes the session service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.runtime.durability import open_durable_store
from services.runtime.server import Runtime
from services.runtime.settings import required
from services.session.abandoned import Abandoned
from services.session.creation import Creation
from services.session.due import DueWork
from services.session.engines import open_engines
from services.session.joining import Joining
from services.session.keys import find_game
from services.session.listing import Listing
from services.session.moves import Moves
from services.session.players import PlayerIndex
from services.session.presence import Presence
from services.session.records import Records
from services.session.service import FULL_NAME, SessionService
from services.session.store import games_of, show_late
from services.session.tails import Tails
from services.session.talk import Talk
from services.session.views import Views
from services.session.watching import Watches

__all__ = ["FULL_NAME", "compose"]


@asynccontextmanager
async def compose(runtime: Runtime) -> AsyncIterator[None]:
    """
    Raises:
        SettingMissing: the store or the engine is not named.
        StorePromisesLess: the store keeps less than the settings promise.
    """
    settings = runtime.settings
    url = required("store_url", settings.store_url).get_secret_value()
    addresses = required("engine_addresses", settings.engine_addresses)
    async with open_durable_store(url, settings) as store, open_engines(addresses, settings) as engines:
        runtime.readiness.needs("store", store.check)
        runtime.readiness.needs("engine", engines.check)
        games = games_of(store, settings)
        views, tails = Views(games, engines), Tails(store, games)
        index = PlayerIndex(store, finished_seconds=settings.finished_game_seconds)
        presence = Presence(store, feed_entries=settings.feed_entries, lease_seconds=settings.presence_seconds)
        watches = Watches(
            games,
            views,
            tails,
            presence,
            heartbeat_seconds=settings.heartbeat_seconds,
            patience_seconds=settings.slow_watcher_seconds,
        )
        SessionService(
            Creation(games, index, engines),
            Moves(games, engines),
            views,
            watches,
            Records(games, engines),
            Listing(store, views),
            Talk(store, games, engines, feed_entries=settings.feed_entries),
            Joining(games, engines),
            settings,
        ).add_to(runtime.server)
        due = DueWork(
            store,
            {
                "abandoned": Abandoned(store, games, index, seconds=settings.abandoned_game_seconds).look,
                "dead": presence.bury,
                "gone": presence.tell_gone,
                "index": lambda _bucket, game_id: index.index(find_game(game_id)),
                "show": lambda _bucket, game_id: show_late(store, find_game(game_id)),
            },
            round_seconds=settings.presence_seconds / 3,
        )
        running = [asyncio.create_task(each) for each in (tails.listen(), presence.stay_alive(), due.work())]
        try:
            yield
        finally:
            await presence.say_farewell()
            for task in running:
                task.cancel()
            await asyncio.wait(running)
