"""A wish is read into its pool, or refused with its field."""

import pytest

from roundtable.matchmaking.v1 import matchmaking_pb2
from roundtable.table.v1 import table_pb2
from services.matchmaking.pools import Pool
from services.matchmaking.requests import check_fields, check_ticket_id, pool_of
from services.runtime.errors import Reason, ServiceError

GAMES = {
    "camelot": table_pb2.GameInfo(
        id="camelot",
        title="Camelot",
        min_seats=3,
        max_seats=7,
        options=[
            table_pb2.GameOption(id="traitor", values=["maybe", "none"], default="maybe"),
            table_pb2.GameOption(id="evil", values=["easy", "hard"], default="easy"),
        ],
    )
}


def wish(**fields: object) -> matchmaking_pb2.CreateTicketRequest:
    complete = {"request_id": "r" * 16, "player_id": "gawain", "game": "camelot", "seats": 5, **fields}
    return matchmaking_pb2.CreateTicketRequest(**complete)  # type: ignore[arg-type]


def test_left_out_options_have_their_defaults() -> None:
    assert pool_of(wish(options={"evil": "hard"}), GAMES) == Pool(
        "camelot", 5, (("evil", "hard"), ("traitor", "maybe")), None
    )
    assert pool_of(wish(options={"traitor": "maybe", "evil": "easy"}), GAMES) == pool_of(wish(), GAMES)


def test_a_seed_of_zero_is_a_seed() -> None:
    assert pool_of(wish(seed=0), GAMES).seed == 0
    assert pool_of(wish(), GAMES).seed is None


@pytest.mark.parametrize(
    ("fields", "reason", "field"),
    [
        ({"game": "bridge"}, Reason.UNKNOWN_GAME, "game"),
        ({"seats": 0}, Reason.SEATS_OUT_OF_RANGE, "seats"),
        ({"seats": 2}, Reason.SEATS_OUT_OF_RANGE, "seats"),
        ({"seats": 8}, Reason.SEATS_OUT_OF_RANGE, "seats"),
        ({"options": {"length": "short"}}, Reason.UNKNOWN_GAME_OPTION, "options.length"),
        ({"options": {"traitor": "two"}}, Reason.GAME_OPTION_VALUE, "options.traitor"),
    ],
)
def test_what_the_rules_do_not_list_is_refused(fields: dict[str, object], reason: Reason, field: str) -> None:
    with pytest.raises(ServiceError) as refused:
        pool_of(wish(**fields), GAMES)
    assert (refused.value.reason, refused.value.field) == (reason, field)


@pytest.mark.parametrize(
    ("fields", "reason", "field"),
    [
        ({"request_id": ""}, Reason.FIELD_MISSING, "request_id"),
        ({"request_id": "r" * 15}, Reason.FIELD_INVALID, "request_id"),
        ({"request_id": "r" * 65}, Reason.FIELD_TOO_LONG, "request_id"),
        ({"player_id": ""}, Reason.FIELD_MISSING, "player_id"),
        ({"player_id": "p" * 65}, Reason.FIELD_TOO_LONG, "player_id"),
        ({"game": ""}, Reason.FIELD_MISSING, "game"),
        ({"game": "g" * 33}, Reason.FIELD_TOO_LONG, "game"),
        ({"options": {f"option{i}": "on" for i in range(33)}}, Reason.FIELD_TOO_LONG, "options"),
        ({"seed": 0}, Reason.SEEDS_NOT_ALLOWED, "seed"),
    ],
)
def test_fields_have_bounds(fields: dict[str, object], reason: Reason, field: str) -> None:
    with pytest.raises(ServiceError) as refused:
        check_fields(wish(**fields), allow_seeds=False)
    assert (refused.value.reason, refused.value.field) == (reason, field)


def test_a_wish_within_its_bounds_passes() -> None:
    check_fields(wish(request_id="r" * 64, player_id="p" * 64), allow_seeds=False)
    check_fields(wish(seed=2**64 - 1), allow_seeds=True)


def test_a_ticket_id_is_needed_and_not_repeated_in_the_refusal() -> None:
    with pytest.raises(ServiceError) as refused:
        check_ticket_id("")
    assert refused.value.reason is Reason.FIELD_MISSING
    with pytest.raises(ServiceError) as refused:
        check_ticket_id("held" * 20)
    assert refused.value.reason is Reason.FIELD_TOO_LONG
    assert "held" not in str(refused.value)
