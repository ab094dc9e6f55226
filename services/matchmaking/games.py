"""Creates the games of matches, at the session service."""

from grpc import aio

from roundtable.matchmaking.v1 import matchmaking_pb2
from roundtable.session.v1 import session_pb2, session_pb2_grpc
from services.matchmaking.tickets import LEASE_SECONDS, Claim
from services.runtime.errors import Reason, ServiceError
from services.runtime.interceptors import outgoing_metadata

# Within the lease, so that one attempt ends before the next begins.
_CALL_SECONDS = LEASE_SECONDS - 0.5
_FIRST_PAUSE_SECONDS = 0.5
_DOUBLINGS = 4
_ATTEMPTS_AT_WHAT_SHOULD_NOT_HAPPEN = 5


class Games:
    def __init__(self, session: aio.Channel) -> None:
        self._session = session_pb2_grpc.SessionServiceStub(session)

    async def create(self, claim: Claim) -> list[matchmaking_pb2.Matched]:
        """The game of a claim, the same however often it is asked for: one seat for each ticket, in their order.

        Raises:
            ServiceError: why there is none; `final` tells whether another attempt can help.
        """
        pool = claim.pool
        try:
            game = await self._session.CreateGame(
                session_pb2.CreateGameRequest(
                    request_id=claim.request_id,
                    game=pool.game,
                    seats=pool.seats,
                    options=dict(pool.options),
                    seed=pool.seed,
                    spectators=True,
                    player_ids=claim.players,
                ),
                timeout=_CALL_SECONDS,
                metadata=outgoing_metadata(),
            )
        except aio.AioRpcError as error:
            raise ServiceError.from_rpc_error(error, Reason.SESSION_UNAVAILABLE) from error
        if len(game.seat_tokens) != pool.seats:
            raise ServiceError(Reason.INTERNAL, f"{len(game.seat_tokens)} tokens for {pool.seats} seats")
        return [
            matchmaking_pb2.Matched(game_id=game.game_id, seat=seat, seat_token=token, commitment=game.commitment)
            for seat, token in enumerate(game.seat_tokens)
        ]


def final(error: ServiceError, attempts: int) -> bool:
    """Whether a game that could not be created will never be.

    Args:
        attempts: failed ones before this.
    """
    if error.retry_after is not None:
        return False
    return error.reason is not Reason.INTERNAL or attempts + 1 >= _ATTEMPTS_AT_WHAT_SHOULD_NOT_HAPPEN


def pause_seconds(attempts: int) -> float:
    """How long to wait before the next attempt, after that many failed ones and one more."""
    return _FIRST_PAUSE_SECONDS * 2.0 ** min(attempts, _DOUBLINGS)
