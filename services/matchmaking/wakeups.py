"""Hears what scripts publish, over one connection for a whole process."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from redis import exceptions

from services.runtime.errors import ServiceError
from services.runtime.store import Store, store_errors

# A connection on which nothing comes for so long is asked for a sign of life, and given up after as long again.
_SILENCE_SECONDS = 5.0
_PAUSE_SECONDS = 0.5


class Wakeup(NamedTuple):
    channel: str
    message: str | None
    """None: the channel is heard from here on; what was said before may have been missed."""


async def wakeups(store: Store, channels: Sequence[str]) -> AsyncIterator[Wakeup]:
    """Listens for ever, and again whenever the store was away."""
    while True:
        try:
            async for wakeup in _listen(store, channels):
                yield wakeup
        except ServiceError:
            await asyncio.sleep(_PAUSE_SECONDS)


async def _listen(store: Store, channels: Sequence[str]) -> AsyncIterator[Wakeup]:
    async with store.redis.pubsub() as subscription:
        with store_errors():
            await subscription.subscribe(*channels)
        asked = False
        while True:
            with store_errors():
                message = await subscription.get_message(timeout=_SILENCE_SECONDS)
                if message is None:
                    if asked:
                        raise exceptions.ConnectionError("the store is silent")
                    await subscription.ping()
            asked = message is None
            if message is None or message["type"] not in ("subscribe", "message"):
                continue
            # The client subscribes again by itself after a short loss of the connection, and that is told too.
            said = str(message["data"], "ascii") if message["type"] == "message" else None
            yield Wakeup(str(message["channel"], "ascii"), said)
