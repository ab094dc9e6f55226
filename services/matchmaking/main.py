"""Composes the matchmaking service."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from roundtable.matchmaking.v1 import matchmaking_pb2_grpc
from services.matchmaking.catalogue import Catalogue
from services.matchmaking.games import Games
from services.matchmaking.matchmaker import Matchmaker
from services.matchmaking.service import MatchmakingServicer
from services.matchmaking.tickets import Tickets
from services.matchmaking.watching import Watches
from services.runtime.durability import open_durable_store
from services.runtime.server import Runtime, open_channel
from services.runtime.settings import required

FULL_NAME = "roundtable.matchmaking.v1.MatchmakingService"


@asynccontextmanager
async def compose(runtime: Runtime) -> AsyncIterator[None]:
    """
    Raises:
        SettingMissing: the store, the engine or the session service is not named.
        StorePromisesLess: the store keeps less than the settings promise.
    """
    settings = runtime.settings
    url = required("store_url", settings.store_url).get_secret_value()
    engine_addresses = required("engine_addresses", settings.engine_addresses)
    session_address = required("session_address", settings.session_address)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_durable_store(url, settings))
        engines = [await stack.enter_async_context(open_channel(address, settings)) for address in engine_addresses]
        session = await stack.enter_async_context(open_channel(session_address, settings))
        runtime.readiness.needs("store", store.check)
        tickets = Tickets(store, settings.ticket_seconds)
        watches = Watches(store, tickets, settings.ticket_seconds)
        matchmaker = Matchmaker(tickets, Games(session))
        servicer = MatchmakingServicer(
            Catalogue(engines), tickets, watches, matchmaker, allow_seeds=settings.allow_seeds
        )
        matchmaking_pb2_grpc.add_MatchmakingServiceServicer_to_server(servicer, runtime.server)
        # One of these that fails ends the service, so that it is seen and started again.
        failure: Exception | None = None
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(work) for work in (matchmaker.run(), watches.hear(), watches.keep_alive())]
            try:
                yield
            except Exception as error:
                failure = error  # of the block, which is to be told as it is and not as one of a group
            finally:
                for task in running:
                    task.cancel()
        if failure is not None:
            raise failure
