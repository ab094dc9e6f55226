"""The way in: a connection to the services, tickets and seats."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

from grpc import aio

from clients.sdk.calls import Caller, Measured
from clients.sdk.seat import Seat, new_request_id
from roundtable.matchmaking.v1 import matchmaking_pb2 as matchmaking
from roundtable.matchmaking.v1.matchmaking_pb2_grpc import MatchmakingServiceStub
from roundtable.session.v1 import session_pb2 as session
from roundtable.session.v1.session_pb2_grpc import SessionServiceStub
from roundtable.table.v1.table_pb2 import Commitment

if TYPE_CHECKING:  # there are no such classes when the program runs
    from roundtable.matchmaking.v1.matchmaking_pb2_grpc import MatchmakingServiceAsyncStub
    from roundtable.session.v1.session_pb2_grpc import SessionServiceAsyncStub

PATIENCE_SECONDS = 60.0

# Servers allow a ping every 10 seconds.
_CHANNEL = [
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
]


class TicketCancelled(Exception):
    """The ticket was taken back before it had a seat."""


class Ticket:
    """A place in the queue for a game."""

    def __init__(
        self, caller: Caller, service: MatchmakingServiceAsyncStub, sessions: SessionServiceAsyncStub, ticket_id: str
    ) -> None:
        self._caller = caller
        self._service = service
        self._sessions = sessions
        self.id = ticket_id

    async def seated(self, waiting: Callable[[int, int], None] = lambda _waiting, _needed: None) -> Seat:
        """Waits for a seat.

        Args:
            waiting: told how many tickets wait for the same game, and how many it needs, whenever that changes.

        Raises:
            TicketCancelled: it was taken back.
        """
        request = matchmaking.WatchTicketRequest(ticket_id=self.id)
        async with aclosing(self._caller.follow(lambda: self._service.WatchTicket(request))) as responses:
            async for response in responses:
                match response.WhichOneof("status"):
                    case "waiting":
                        waiting(response.waiting.waiting, response.waiting.needed)
                    case "matched":
                        match = response.matched
                        return Seat(
                            self._caller, self._sessions, match.game_id, match.seat, match.seat_token, match.commitment
                        )
                    case "cancelled":
                        raise TicketCancelled(self.id)
        raise AssertionError("a followed stream does not end by itself")

    async def take_back(self) -> None:
        """Gives up the place in the queue."""
        request = matchmaking.DeleteTicketRequest(ticket_id=self.id)
        await self._caller.call("DeleteTicket", self._service.DeleteTicket, request)


class Roundtable:
    """A connection to the services, for any number of players."""

    def __init__(
        self, caller: Caller, sessions: SessionServiceAsyncStub, matchmaking: MatchmakingServiceAsyncStub
    ) -> None:
        self._caller = caller
        self._sessions = sessions
        self._matchmaking = matchmaking

    async def queue(
        self,
        player_id: str,
        game: str,
        seats: int,
        *,
        options: Mapping[str, str] | None = None,
        seed: int | None = None,
    ) -> Ticket:
        """Queues a player for a game with this number of seats."""
        request = matchmaking.CreateTicketRequest(
            request_id=new_request_id(), player_id=player_id, game=game, seats=seats, options=options, seed=seed
        )
        response = await self._caller.call("CreateTicket", self._matchmaking.CreateTicket, request)
        return Ticket(self._caller, self._matchmaking, self._sessions, response.ticket_id)

    def seat(self, game_id: str, number: int, token: str, commitment: Commitment) -> Seat:
        """A seat that was given out earlier."""
        return Seat(self._caller, self._sessions, game_id, number, token, commitment)

    async def create_game(
        self,
        game: str,
        seats: int,
        *,
        options: Mapping[str, str] | None = None,
        seed: int | None = None,
        player_ids: Sequence[str] = (),
        silent: bool = False,
    ) -> list[Seat]:
        """Creates a game without matchmaking and gives all its seats.

        Args:
            player_ids: who sits where, for `games`; one for each seat (empty: nobody who is known), or none.
            silent: nobody can say anything.
        """
        request = session.CreateGameRequest(
            request_id=new_request_id(),
            game=game,
            seats=seats,
            options=options,
            seed=seed,
            player_ids=player_ids,
            silent=silent,
        )
        return self._seats(await self._create(request))

    async def create_joinable_game(
        self,
        game: str,
        seats: int,
        *,
        options: Mapping[str, str] | None = None,
        seed: int | None = None,
        silent: bool = False,
    ) -> tuple[list[Seat], str]:
        """Creates a game that newcomers can join, and gives all its seats and the token to join with."""
        request = session.CreateGameRequest(
            request_id=new_request_id(),
            game=game,
            seats=seats,
            options=options,
            seed=seed,
            silent=silent,
            joinable=True,
        )
        created = await self._create(request)
        return self._seats(created), created.join_token

    async def join(self, game_id: str, join_token: str) -> Seat:
        """Takes a seat in a game that goes on.

        Raises:
            CallFailed: the token is not the game's, or the rules let nobody join now.
        """
        request = session.JoinRequest(game_id=game_id, join_token=join_token, request_id=new_request_id())
        joined = await self._caller.call("Join", self._sessions.Join, request)
        return self.seat(game_id, joined.seat, joined.seat_token, joined.commitment)

    async def _create(self, request: session.CreateGameRequest) -> session.CreateGameResponse:
        return await self._caller.call("CreateGame", self._sessions.CreateGame, request)

    def _seats(self, created: session.CreateGameResponse) -> list[Seat]:
        return [
            self.seat(created.game_id, number, token, created.commitment)
            for number, token in enumerate(created.seat_tokens)
        ]

    async def games(self, player_id: str, player_token: str) -> AsyncIterator[session.PlayerGame]:
        """A player's games: those that go on first, the newest first."""
        request = session.ListGamesRequest(player_id=player_id, player_token=player_token)
        while True:
            page = await self._caller.call("ListGames", self._sessions.ListGames, request)
            for game in page.games:
                yield game
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token


@asynccontextmanager
async def connect(
    session_address: str,
    matchmaking_address: str,
    *,
    patience: float = PATIENCE_SECONDS,
    measured: Measured | None = None,
) -> AsyncIterator[Roundtable]:
    """Connects to services at host:port, in plain text.

    Args:
        patience: seconds for which an unavailable service is tried again.
        measured: told how long each call took.
    """
    async with (
        aio.insecure_channel(session_address, options=_CHANNEL) as sessions,
        aio.insecure_channel(matchmaking_address, options=_CHANNEL) as tickets,
    ):
        yield Roundtable(Caller(patience, measured), SessionServiceStub(sessions), MatchmakingServiceStub(tickets))
