"""What a follower is told of a ticket in each of its states."""

from roundtable.matchmaking.v1 import matchmaking_pb2
from services.matchmaking.sealing import cross, seat_key
from services.matchmaking.statuses import status_outside_queue, waiting_status, waits
from services.matchmaking.tickets import TicketState
from services.runtime.errors import Reason, ServiceError

TICKET = "m3-" + "a" * 43
CLAIM = "0f" * 16


def state(
    *, claimed: bool = False, cancelled: bool = False, matched: bytes | None = None, refused: bytes | None = None
) -> TicketState:
    return TicketState(False, CLAIM if claimed else None, cancelled, matched, refused)


def test_no_more_are_told_to_wait_than_are_needed() -> None:
    assert waiting_status(7, 5).waiting == matchmaking_pb2.Waiting(waiting=5, needed=5)
    assert waiting_status(2, 5).waiting == matchmaking_pb2.Waiting(waiting=2, needed=5)
    assert waits(waiting_status(2, 5))


def test_a_claimed_ticket_waits_with_all_it_needs() -> None:
    assert status_outside_queue(state(claimed=True), TICKET, 5) == waiting_status(5, 5)


def test_a_match_is_told_to_who_has_the_ticket() -> None:
    seat = matchmaking_pb2.Matched(game_id="b17-a", seat=3, seat_token="t" * 43)
    closed = cross(seat.SerializeToString(), seat_key(TICKET), bytes.fromhex(CLAIM))
    status = status_outside_queue(state(claimed=True, matched=closed), TICKET, 5)

    assert isinstance(status, matchmaking_pb2.WatchTicketResponse)
    assert status.matched == seat
    assert not waits(status)


def test_a_cancelled_ticket_is_cancelled() -> None:
    status = status_outside_queue(state(cancelled=True), TICKET, 5)

    assert isinstance(status, matchmaking_pb2.WatchTicketResponse)
    assert status.HasField("cancelled")


def test_a_refused_game_is_told_with_its_reason() -> None:
    refusal = ServiceError(Reason.SEEDS_NOT_ALLOWED, "no seeds", field="seed")
    status = status_outside_queue(state(claimed=True, refused=refusal.to_status().SerializeToString()), TICKET, 5)

    assert isinstance(status, ServiceError)
    assert (status.reason, status.field) == (Reason.SEEDS_NOT_ALLOWED, "seed")


def test_a_ticket_that_waits_nowhere_has_expired() -> None:
    status = status_outside_queue(state(), TICKET, 5)

    assert isinstance(status, ServiceError)
    assert status.reason is Reason.TICKET_NOT_FOUND
