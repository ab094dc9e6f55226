"""Composes the session service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.runtime.server import Runtime
from services.runtime.settings import required
from services.runtime.store import open_store
from services.session.creation import Creation
from services.session.engines import open_engines
from services.session.moves import Moves
from services.session.service import FULL_NAME, SessionService
from services.session.store import Games
from services.session.tails import Tails
from services.session.views import Views
from services.session.watching import Watches

__all__ = ["FULL_NAME", "compose"]


@asynccontextmanager
async def compose(runtime: Runtime) -> AsyncIterator[None]:
    """
    Raises:
        SettingMissing: the store or the engine is not named.
    """
    settings = runtime.settings
    url = required("store_url", settings.store_url).get_secret_value()
    addresses = required("engine_addresses", settings.engine_addresses)
    async with open_store(url) as store, open_engines(addresses, settings) as engines:
        games = Games(store, feed_entries=settings.feed_entries, finished_seconds=settings.finished_game_seconds)
        views, tails = Views(games, engines), Tails(store, games)
        watches = Watches(games, views, tails, heartbeat_seconds=settings.heartbeat_seconds)
        SessionService(Creation(games, engines), Moves(games, engines), views, watches).add_to(runtime.server)
        listening = asyncio.create_task(tails.listen())
        try:
            yield
        finally:
            listening.cancel()
            await asyncio.wait([listening])
