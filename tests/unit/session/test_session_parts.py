"""Names, seats, cursors, fingerprints and logs of games, without a store."""

from __future__ import annotations

import pytest

from roundtable.engine.v1 import engine_pb2
from roundtable.session.v1 import session_pb2
from roundtable.table.v1 import table_pb2
from services.runtime.errors import Reason, ServiceError
from services.session import wire
from services.session.cursors import Cursor, decode_cursor, encode_cursor, mark_of
from services.session.keys import find_game, new_game
from services.session.log import Answered, decode_input, encode_input, what_came_of
from services.session.requests import FINGERPRINT_BYTES, request_of
from services.session.seats import SALT_BYTES, new_seats, seal, token, token_digest, unseal

GAME = "b17-" + "a" * 24


def test_a_game_is_found_by_the_request_that_made_it() -> None:
    made = new_game("0f3c8b1e-6a54-4a70-9f0e-3d2f5b1c9a77")

    assert made == new_game("0f3c8b1e-6a54-4a70-9f0e-3d2f5b1c9a77") == find_game(made.id)
    assert made.id != new_game("0f3c8b1e-6a54-4a70-9f0e-3d2f5b1c9a78").id
    assert len(made.id) <= 64


def test_all_names_of_a_game_share_the_tag_of_its_bucket() -> None:
    game = find_game(GAME)

    assert game.bucket == 17
    for name in (game.game, game.log, game.feed, game.wake):
        assert name.startswith("{b17}:")
    assert len({game.game, game.log, game.feed, game.wake}) == 4


def test_games_spread_over_all_buckets() -> None:
    buckets = [new_game(str(number)).bucket for number in range(10_000)]

    assert set(buckets) == set(range(256))
    assert max(buckets.count(bucket) for bucket in range(256)) < 80


@pytest.mark.parametrize("game_id", ["", "b17", "b017-" + "a" * 24, "b256-" + "a" * 24, "b1-" + "A" * 24, GAME + "a"])
def test_what_cannot_be_a_game_is_not_looked_for(game_id: str) -> None:
    with pytest.raises(ServiceError) as error:
        find_game(game_id)
    assert error.value.reason is Reason.GAME_NOT_FOUND


def test_seats_are_had_again_with_the_request_id_only() -> None:
    seats, salt = new_seats(7), bytes(range(SALT_BYTES))
    sealed = seal(seats, "a request id of ours", salt)

    assert unseal(sealed, "a request id of ours", salt) == seats
    assert set(unseal(sealed, "another request id", salt)).isdisjoint(seats)
    assert set(unseal(sealed, "a request id of ours", bytes(SALT_BYTES))).isdisjoint(seats)
    assert not any(seat in sealed for seat in seats)


def test_tokens_are_unlike_each_other_and_their_digests() -> None:
    tokens = [token(seat) for seat in new_seats(16)]

    assert len({*tokens}) == len({token_digest(each) for each in tokens}) == 16
    assert all(len(each) == 43 for each in tokens)


@pytest.mark.parametrize("position", [1, 255, 256, (1 << 32) + 5, (1 << 40) - 1])
def test_cursors_come_back_as_they_went(position: int) -> None:
    cursor = Cursor(position, mark_of(b"digest", b"salt"))
    text = encode_cursor(GAME, cursor)

    assert decode_cursor(GAME, text) == cursor
    assert len(text) <= 64


def test_a_cursor_with_any_letter_changed_is_invalid() -> None:
    text = encode_cursor(GAME, Cursor(7, mark_of(b"digest", b"salt")))
    for place in range(len(text)):
        for letter in "A9_- \n=":
            changed = text[:place] + letter + text[place + 1 :]
            if changed != text:
                with pytest.raises(ServiceError) as error:
                    decode_cursor(GAME, changed)
                assert error.value.reason is Reason.CURSOR_INVALID


def test_equal_histories_of_two_games_have_different_marks() -> None:
    assert mark_of(bytes(16), b"one") != mark_of(bytes(16), b"other")


def test_a_request_is_known_by_seat_id_and_content() -> None:
    request = request_of("token", "id", ("choose", "5", ["pass"]))

    assert request == request_of("token", "id", ("choose", "5", ["pass"]))
    assert len(request.fingerprint) == FINGERPRINT_BYTES
    assert request_of("token", "id", ("choose", "5", ["fight"])).id == request.id
    assert request_of("token", "id", ("choose", "5", ["fight"])).content != request.content
    assert request_of("other", "id", ("choose", "5", ["pass"])).id != request.id
    assert request_of("token", "other", ("choose", "5", ["pass"])).id != request.id


LOGGED = [
    engine_pb2.LoggedInput(kind=engine_pb2.INPUT_KIND_ANSWER, seat=15, decision="123", picks=[3]),
    engine_pb2.LoggedInput(kind=engine_pb2.INPUT_KIND_ANSWER, seat=2, decision="123", picks=[]),
    engine_pb2.LoggedInput(kind=engine_pb2.INPUT_KIND_DEFAULT_ANSWER, seat=0, decision="0123", picks=[1, 200, 3]),
    engine_pb2.LoggedInput(kind=engine_pb2.INPUT_KIND_STANDING_ANSWER, seat=1, decision="round-2", picks=[0]),
    engine_pb2.LoggedInput(kind=engine_pb2.INPUT_KIND_STANDING_ORDERS, seat=1, orders={"heroic": "pass"}),
    engine_pb2.LoggedInput(kind=engine_pb2.INPUT_KIND_ANSWER, seat=1, decision="9" * 30, picks=[1023]),
    engine_pb2.LoggedInput(kind=engine_pb2.INPUT_KIND_LEAVE, seat=3),
    engine_pb2.LoggedInput(kind=engine_pb2.INPUT_KIND_JOIN, seat=15),
]


def test_logged_inputs_come_back_as_they_went() -> None:
    assert [decode_input(encode_input(logged)) for logged in LOGGED] == LOGGED


def test_a_usual_input_takes_at_most_six_bytes() -> None:
    usual = engine_pb2.LoggedInput(kind=engine_pb2.INPUT_KIND_ANSWER, seat=6, decision="800", picks=[12])

    assert len(encode_input(usual)) == 6


def test_answers_tell_what_came_of_a_decision() -> None:
    answers = list(enumerate(map(encode_input, LOGGED[:4]), 1))

    assert what_came_of(answers, 15) == Answered(1, "answer", (3,))
    assert what_came_of(answers, 0) == Answered(3, "default_answer", (1, 200, 3))
    assert what_came_of(answers, 1) == Answered(4, "standing_answer", (0,))
    assert what_came_of(answers, 7) == Answered(4, "unanswered", ())
    assert what_came_of([], 7) is None


def test_responses_put_together_are_those_of_the_library() -> None:
    for size in (0, 1, 100, 20_000):
        update = table_pb2.Update(version=size, asked=range(size))
        whole = session_pb2.WatchResponse(cursor="place", update=update)
        head = session_pb2.WatchResponse(cursor="place").SerializeToString()

        together = head + wire.field(session_pb2.WatchResponse, "update", update.SerializeToString())

        assert together == whole.SerializeToString()
