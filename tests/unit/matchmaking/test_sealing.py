"""What closes the secrets that the store keeps."""

import pytest

from services.matchmaking.sealing import cross, game_request_id, request_key, seat_key

SALT = bytes(range(16))


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 1000])
def test_what_is_closed_is_opened_by_the_same_key_and_salt_only(length: int) -> None:
    text = bytes(number % 251 for number in range(length))
    closed = cross(text, seat_key("m3-a"), SALT)

    assert len(closed) == length
    assert cross(closed, seat_key("m3-a"), SALT) == text
    if length > 16:
        assert cross(closed, seat_key("m3-b"), SALT) != text
        assert cross(closed, seat_key("m3-a"), SALT[::-1]) != text


def test_no_part_of_a_pad_comes_again() -> None:
    pad = cross(bytes(640), seat_key("m3-a"), SALT)
    assert len({pad[start : start + 64] for start in range(0, 640, 64)}) == 10


def test_a_key_is_for_one_purpose() -> None:
    assert seat_key("a") != request_key("a")


def test_a_game_is_created_under_what_its_claim_and_all_its_tickets_make() -> None:
    keys = [seat_key("a"), seat_key("b")]
    made = game_request_id("0f", keys)

    assert len(made) == 64
    assert made == game_request_id("0f", list(keys))
    assert made not in (game_request_id("f0", keys), game_request_id("0f", keys[::-1]), game_request_id("0f", keys[:1]))
