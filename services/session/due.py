"""Due work: what is to be done about games at a time, by whichever process is there then.

It lies in one sorted set for each bucket. Whoever finds it due takes it for a time, does it and removes it; should it
die before, another takes it again. So work can be done twice, and each piece is such that the second time changes
nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from random import SystemRandom

from services.runtime.errors import Reason, ServiceError
from services.runtime.logging import get_logger
from services.runtime.store import Store
from services.session.keys import BUCKETS, due_set
from services.session.store import now_ms, script

Handler = Callable[[int, str], Awaitable[None]]
"""Does a piece of work: gets the bucket, and what follows the work's kind in its name."""

_AT_ONCE = 64
_TAKEN_MS = 10_000
_PAUSE_SECONDS = 0.5

_log = get_logger()


class DueWork:
    def __init__(self, store: Store, handlers: Mapping[str, Handler], *, round_seconds: float) -> None:
        """
        Args:
            handlers: by the kind of work, which is the first word of its name.
            round_seconds: time to look at every bucket once.
        """
        self._store = store
        self._handlers = handlers
        self._pause = round_seconds / BUCKETS

    async def work(self) -> None:
        """Looks for due work and does it, for ever."""
        buckets = list(range(BUCKETS))
        # Processes that start together look at different places.
        SystemRandom().shuffle(buckets)
        while True:
            for bucket in buckets:
                await asyncio.sleep(self._pause)
                try:
                    await self.work_off(bucket)
                except ServiceError as error:
                    if error.reason is not Reason.STORE_UNAVAILABLE:
                        _log.warning("due work not done", bucket=bucket, reason=error.reason)
                    await asyncio.sleep(_PAUSE_SECONDS)
                except Exception:
                    # A defect; other work must not wait for it.
                    _log.exception("due work not done", bucket=bucket)

    async def work_off(self, bucket: int) -> None:
        """Does what is due in a bucket."""
        due = due_set(bucket)
        # Mostly there is nothing, and a look is cheaper than a script.
        while await self._store.call("ZRANGE", due, "-inf", now_ms(), "BYSCORE", "LIMIT", 0, 1):
            taken: list[bytes] = await self._store.run(_CLAIM, [due], [_TAKEN_MS, _AT_ONCE])
            if not taken:
                return  # by somebody else
            for work in taken:
                kind, _, what = work.decode().partition(" ")
                await self._handlers[kind](bucket, what)


_CLAIM = script("claim")
