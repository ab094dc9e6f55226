"""Followed tickets of this process: woken together, read together, kept alive together."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from itertools import islice

from roundtable.matchmaking.v1 import matchmaking_pb2
from services.matchmaking.keys import ALL_BUCKETS, name_of
from services.matchmaking.pools import Pool
from services.matchmaking.statuses import Status, not_found, status_outside_queue, waiting_status, waits
from services.matchmaking.tickets import Tickets, TicketState
from services.runtime.errors import Reason, ServiceError
from services.runtime.logging import get_logger
from services.runtime.store import Store
from services.runtime.wakeups import Wakeups

_TICKETS_A_READ = 200
_PAUSE_SECONDS = 1.0
# A waiting ticket is kept alive so many times within its life.
_KEPT_ALIVE = 3

_log = get_logger()


class Watch:
    """One follower of a ticket. Who is slow gets the newest status only."""

    def __init__(self, ticket_id: str) -> None:
        self.ticket_id = ticket_id
        self.status: Status | None = None
        self._changed = asyncio.Event()

    def tell(self, status: Status) -> None:
        if status != self.status:
            self.status = status
            self._changed.set()

    async def statuses(self) -> AsyncIterator[matchmaking_pb2.WatchTicketResponse]:
        """The present status and each change, up to the last.

        Raises:
            ServiceError: TICKET_NOT_FOUND, STORE_UNAVAILABLE, or why the ticket's game was refused.
        """
        while True:
            await self._changed.wait()
            self._changed.clear()
            status = self.status
            if isinstance(status, ServiceError):
                raise status
            if status is not None:
                yield status
                if not waits(status):
                    return


class Watches:
    def __init__(self, store: Store, tickets: Tickets, life_seconds: float) -> None:
        self._tickets = tickets
        self._life_seconds = life_seconds
        self._pools: dict[str, _FollowedPool] = {}
        self._wakeups = Wakeups(store, (bucket.channel for bucket in ALL_BUCKETS), self._heard)

    @asynccontextmanager
    async def following(self, ticket_id: str) -> AsyncIterator[Watch]:
        """
        Raises:
            ServiceError: TICKET_NOT_FOUND, STORE_UNAVAILABLE.
        """
        pool = await self._tickets.pool_of(ticket_id)
        if pool is None:
            raise not_found()
        followed = self._pools.setdefault(pool.id, _FollowedPool(pool, self._tickets))
        name, watch = name_of(ticket_id), Watch(ticket_id)
        followed.add(name, watch)
        try:
            yield watch
        finally:
            followed.remove(name, watch)
            if not followed.watches:
                followed.close()
                self._pools.pop(pool.id, None)

    async def hear(self) -> None:
        """Listens for changes, until cancelled."""
        await self._wakeups.listen()

    def _heard(self, channel: str, message: str | None) -> None:
        if message is None:
            for followed in self._pools.values():
                if followed.pool.bucket.channel == channel:
                    followed.read(followed.watches)
        else:
            pool_id, *tickets = message.split()
            if pool_id in self._pools:
                self._pools[pool_id].read(tickets)

    async def keep_alive(self) -> None:
        """Reads every followed ticket within its life, which prolongs it, until cancelled."""
        while True:
            await asyncio.sleep(self._life_seconds / _KEPT_ALIVE)
            for followed in self._pools.values():
                followed.read(followed.watches)


class _FollowedPool:
    """The followed tickets of one pool, by name.

    What is told of a pool only says what to read. Reads follow one another, so that the last is the newest.
    """

    def __init__(self, pool: Pool, tickets: Tickets) -> None:
        self.pool = pool
        self.watches: dict[str, set[Watch]] = {}
        self._tickets = tickets
        self._unread: set[str] = set()
        self._queued: set[str] = set()  # followed tickets in the queue, when last read
        self._due = False
        self._reading: asyncio.Task[None] | None = None

    def add(self, ticket: str, watch: Watch) -> None:
        self.watches.setdefault(ticket, set()).add(watch)
        self.read((ticket,))

    def remove(self, ticket: str, watch: Watch) -> None:
        left = self.watches[ticket]
        left.discard(watch)
        if not left:
            del self.watches[ticket]
            self._queued.discard(ticket)

    def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()

    def read(self, tickets: Iterable[str]) -> None:
        """Reads these tickets, if they are followed, and the length of the queue."""
        self._unread.update(tickets)
        self._due = True
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read_all_or_tell())

    async def _read_all_or_tell(self) -> None:
        try:
            await self._read_all()
        except Exception:
            _log.exception("reading tickets failed")
            for watches in self.watches.values():
                for watch in watches:
                    watch.tell(ServiceError(Reason.INTERNAL, "the server failed"))

    async def _read_all(self) -> None:
        while self._due:
            self._unread &= self.watches.keys()
            batch = {ticket: ticket in self._queued for ticket in islice(self._unread, _TICKETS_A_READ)}
            self._unread -= batch.keys()
            self._due = bool(self._unread)
            try:
                waiting, states = await self._tickets.follow(self.pool, batch)
            except ServiceError as error:
                self._unread |= batch.keys()
                self._due = True
                self._tell_who_knows_nothing(error)
                await asyncio.sleep(_PAUSE_SECONDS)
            else:
                self._tell(waiting, states)

    def _tell_who_knows_nothing(self, error: ServiceError) -> None:
        for watches in self.watches.values():
            for watch in watches:
                if watch.status is None:
                    watch.tell(error)

    def _tell(self, waiting: int, states: Mapping[str, TicketState]) -> None:
        for ticket, state in states.items():
            if state.waits and ticket in self.watches:
                self._queued.add(ticket)
                continue
            self._queued.discard(ticket)
            for watch in self.watches.get(ticket, ()):
                watch.tell(status_outside_queue(state, watch.ticket_id, self.pool.seats))
        # Fewer: some of ours have just left the queue. That is being told, and read next.
        if waiting >= len(self._queued):
            status = waiting_status(waiting, self.pool.seats)
            for ticket in self._queued:
                for watch in self.watches[ticket]:
                    watch.tell(status)
