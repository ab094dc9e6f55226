"""What a follower is told of a ticket."""

from google.rpc import status_pb2

from roundtable.matchmaking.v1 import matchmaking_pb2
from services.matchmaking.tickets import TicketState
from services.runtime.errors import Reason, ServiceError

Status = matchmaking_pb2.WatchTicketResponse | ServiceError
"""A response, or the error that ends the stream."""


def waiting_status(waiting: int, seats: int) -> matchmaking_pb2.WatchTicketResponse:
    return matchmaking_pb2.WatchTicketResponse(
        waiting=matchmaking_pb2.Waiting(waiting=min(waiting, seats), needed=seats)
    )


def status_outside_queue(state: TicketState, ticket_id: str, seats: int) -> Status:
    """The status of a ticket that is not, or not any more, in the queue."""
    seat = state.seat(ticket_id)
    if seat is not None:
        return matchmaking_pb2.WatchTicketResponse(matched=matchmaking_pb2.Matched.FromString(seat))
    if state.refused is not None:
        return ServiceError.from_status(status_pb2.Status.FromString(state.refused))
    if state.cancelled:
        return matchmaking_pb2.WatchTicketResponse(cancelled=matchmaking_pb2.Cancelled())
    if state.claim is not None:
        return waiting_status(seats, seats)
    return not_found()


def waits(status: matchmaking_pb2.WatchTicketResponse) -> bool:
    return status.HasField("waiting")


def not_found() -> ServiceError:
    # The id is a secret and stays out of messages and logs.
    return ServiceError(Reason.TICKET_NOT_FOUND, "no such ticket, or it has expired", field="ticket_id")
