"""Which failures to create a game are final, and how long to wait after the others."""

import pytest

from services.matchmaking.games import final, pause_seconds
from services.runtime.errors import Reason, ServiceError


@pytest.mark.parametrize("reason", [Reason.SEEDS_NOT_ALLOWED, Reason.GAME_OPTION_VALUE, Reason.UNKNOWN_GAME])
def test_a_refusal_is_final(reason: Reason) -> None:
    assert final(ServiceError(reason, "no"), 0)


@pytest.mark.parametrize(
    "reason",
    [Reason.SESSION_UNAVAILABLE, Reason.ENGINE_UNAVAILABLE, Reason.STORE_UNAVAILABLE, Reason.SHUTTING_DOWN],
)
def test_an_outage_is_never_final(reason: Reason) -> None:
    assert not final(ServiceError(reason, "away"), 1000)


def test_a_fault_is_final_if_it_stays() -> None:
    fault = ServiceError(Reason.INTERNAL, "broken")
    assert [final(fault, attempts) for attempts in range(6)] == [False, False, False, False, True, True]


def test_pauses_grow_to_a_limit() -> None:
    assert [pause_seconds(attempts) for attempts in (0, 1, 2, 3, 4, 5, 10_000)] == [0.5, 1, 2, 4, 8, 8, 8]
