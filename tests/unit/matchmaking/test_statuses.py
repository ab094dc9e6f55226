"""What a follower is told of a ticket in each of its states."""

from roundtable.matchmaking.v1 import matchmaking_pb2
from services.matchmaking.statuses import status_outside_queue, waiting_status, waits
from services.matchmaking.tickets import TicketState
from services.runtime.errors import Reason, ServiceError


def state(
    *, claimed: bool = False, cancelled: bool = False, matched: bytes | None = None, refused: bytes | None = None
) -> TicketState:
    return TicketState(False, claimed, cancelled, matched, refused)


def test_no_more_are_told_to_wait_than_are_needed() -> None:
    assert waiting_status(7, 5).waiting == matchmaking_pb2.Waiting(waiting=5, needed=5)
    assert waiting_status(2, 5).waiting == matchmaking_pb2.Waiting(waiting=2, needed=5)
    assert waits(waiting_status(2, 5))


def test_a_claimed_ticket_waits_with_all_it_needs() -> None:
    assert status_outside_queue(state(claimed=True), 5) == waiting_status(5, 5)


def test_a_match_is_told_as_it_was_stored() -> None:
    seat = matchmaking_pb2.Matched(game_id="b17-a", seat=3, seat_token="t")
    status = status_outside_queue(state(claimed=True, matched=seat.SerializeToString()), 5)

    assert isinstance(status, matchmaking_pb2.WatchTicketResponse)
    assert status.matched == seat
    assert not waits(status)


def test_a_cancelled_ticket_is_cancelled() -> None:
    status = status_outside_queue(state(cancelled=True), 5)

    assert isinstance(status, matchmaking_pb2.WatchTicketResponse)
    assert status.HasField("cancelled")


def test_a_refused_game_is_told_with_its_reason() -> None:
    refusal = ServiceError(Reason.SEEDS_NOT_ALLOWED, "no seeds", field="seed")
    status = status_outside_queue(state(claimed=True, refused=refusal.to_status().SerializeToString()), 5)

    assert isinstance(status, ServiceError)
    assert (status.reason, status.field) == (Reason.SEEDS_NOT_ALLOWED, "seed")


def test_a_ticket_that_waits_nowhere_has_expired() -> None:
    status = status_outside_queue(state(), 5)

    assert isinstance(status, ServiceError)
    assert status.reason is Reason.TICKET_NOT_FOUND
