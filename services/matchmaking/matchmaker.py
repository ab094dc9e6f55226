"""Makes matches: claims tickets, creates the game, hands out the seats.

There is no leader. Each step is recorded before the next begins, and whoever finds one that was not followed by
the next within the lease carries it on; the game's request id follows from the claim, so that it is the same game.
"""

import asyncio

from services.matchmaking.games import Games, final, pause_seconds
from services.matchmaking.keys import ALL_BUCKETS, Bucket
from services.matchmaking.pools import Pool
from services.matchmaking.tickets import Tickets
from services.runtime import failpoints
from services.runtime.errors import ServiceError
from services.runtime.logging import get_logger

_LOOK_SECONDS = 1.0
# More than these wait; with a lease that ends, another process may take them.
_GAMES_AT_ONCE = 16

_log = get_logger()


class Matchmaker:
    def __init__(self, tickets: Tickets, games: Games) -> None:
        self._tickets = tickets
        self._games = games
        self._slots = asyncio.Semaphore(_GAMES_AT_ONCE)
        # Work under way, and whether there was a reason to do it once more since it began.
        self._again: dict[tuple[Bucket, str], bool] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def form(self, pool: Pool) -> None:
        """Forms the matches a pool has tickets for, in the background."""
        self._start(pool.bucket, f"pool:{pool.encoded}")

    async def run(self) -> None:
        """Carries on what others left, until cancelled."""
        try:
            while True:
                await self._look()
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            for task in self._tasks:
                task.cancel()

    async def _look(self) -> None:
        for bucket in ALL_BUCKETS:
            try:
                items = await self._tickets.take_due(bucket)
            except ServiceError as error:
                _log.warning("cannot look for due work", reason=error.reason)
                return
            for item in items:
                self._start(bucket, item)

    def _start(self, bucket: Bucket, item: str) -> None:
        key = (bucket, item)
        if key in self._again:
            self._again[key] = True
            return
        self._again[key] = False
        task = asyncio.create_task(self._work(bucket, item))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self, bucket: Bucket, item: str) -> None:
        key = (bucket, item)
        kind, _, what = item.partition(":")
        try:
            again = True
            while again:
                self._again[key] = False
                if kind == "pool":
                    await self._form(Pool.decode(what))
                else:
                    await self._finish(bucket, what)
                again = self._again[key]
        except ServiceError as error:
            # It stays due.
            _log.warning("matchmaking interrupted", reason=error.reason)
        except Exception:
            _log.exception("matchmaking failed")
        finally:
            del self._again[key]

    async def _form(self, pool: Pool) -> None:
        while claim_id := await self._tickets.claim_oldest(pool):
            self._start(pool.bucket, f"claim:{claim_id}")

    async def _finish(self, bucket: Bucket, claim_id: str) -> None:
        async with self._slots:
            claim = await self._tickets.load_claim(bucket, claim_id)
            if claim is None:
                return
            log = _log.bind(claim=claim_id, game=claim.pool.game, seats=claim.pool.seats)
            try:
                seats = await self._games.create(claim)
            except ServiceError as error:
                if final(error, claim.attempts):
                    log.warning("match refused", reason=error.reason, message=error.message)
                    await self._tickets.settle_refused(claim, error.to_status().SerializeToString())
                else:
                    log.warning("match postponed", reason=error.reason, attempts=claim.attempts + 1)
                    await self._tickets.postpone(claim, pause_seconds(claim.attempts))
                return
            failpoints.step("match.created")
            if await self._tickets.settle_matched(claim, [seat.SerializeToString() for seat in seats]):
                failpoints.step("match.settled")
                log.info("matched", game_id=seats[0].game_id)
