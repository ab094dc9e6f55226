"""The contract of matchmaking."""

from collections.abc import AsyncIterator

from roundtable.matchmaking.v1 import matchmaking_pb2, matchmaking_pb2_grpc
from services.matchmaking.catalogue import Catalogue
from services.matchmaking.matchmaker import Matchmaker
from services.matchmaking.pools import Pool
from services.matchmaking.requests import NOT_LISTED, check_fields, check_ticket_id, pool_of
from services.matchmaking.statuses import not_found
from services.matchmaking.tickets import Deletion, Tickets
from services.matchmaking.watching import Watches
from services.runtime.errors import Reason, ServiceError
from services.runtime.interceptors import Context
from services.runtime.logging import get_logger

_log = get_logger()


class MatchmakingServicer(matchmaking_pb2_grpc.MatchmakingServiceServicer):
    def __init__(
        self, catalogue: Catalogue, tickets: Tickets, watches: Watches, matchmaker: Matchmaker, *, allow_seeds: bool
    ) -> None:
        self._catalogue = catalogue
        self._tickets = tickets
        self._watches = watches
        self._matchmaker = matchmaker
        self._allow_seeds = allow_seeds

    async def CreateTicket(
        self, request: matchmaking_pb2.CreateTicketRequest, context: Context
    ) -> matchmaking_pb2.CreateTicketResponse:
        check_fields(request, allow_seeds=self._allow_seeds)
        pool = await self._pool_of(request)
        created = await self._tickets.create(request.request_id, request.player_id, pool)
        _log.info("ticket created", game=pool.game, seats=pool.seats, pool=pool.id)
        if created.pool_is_full:
            self._matchmaker.form(pool)
        return matchmaking_pb2.CreateTicketResponse(ticket_id=created.ticket_id)

    async def _pool_of(self, request: matchmaking_pb2.CreateTicketRequest) -> Pool:
        games = await self._catalogue.games()
        try:
            return pool_of(request, games)
        except ServiceError as error:
            if error.reason not in NOT_LISTED:
                raise
            return pool_of(request, await self._catalogue.newer_games())

    async def WatchTicket(
        self, request: matchmaking_pb2.WatchTicketRequest, context: Context
    ) -> AsyncIterator[matchmaking_pb2.WatchTicketResponse]:
        check_ticket_id(request.ticket_id)
        async with self._watches.following(request.ticket_id) as watch:
            async for status in watch.statuses():
                yield status

    async def DeleteTicket(
        self, request: matchmaking_pb2.DeleteTicketRequest, context: Context
    ) -> matchmaking_pb2.DeleteTicketResponse:
        check_ticket_id(request.ticket_id)
        pool = await self._tickets.pool_of(request.ticket_id)
        if pool is None:
            raise not_found()
        match await self._tickets.delete(pool, request.ticket_id):
            case Deletion.GONE:
                raise not_found()
            case Deletion.MATCHED:
                raise ServiceError(Reason.TICKET_MATCHED, "the ticket has a seat, or is just getting one")
        return matchmaking_pb2.DeleteTicketResponse()
