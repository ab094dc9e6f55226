"""What the store finds in a long log, without reading it all."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from redis import Redis

from roundtable.engine.v1 import engine_pb2
from services.runtime.settings import Settings
from services.runtime.store import open_store
from services.session.keys import new_game
from services.session.log import encode_input
from services.session.store import Games, games_of
from tests.integration.conftest import client_of_store
from tests.integration.seats import new_request_id

ANSWER, ORDERS = engine_pb2.INPUT_KIND_ANSWER, engine_pb2.INPUT_KIND_STANDING_ORDERS


@pytest.fixture
def store(store_url: str) -> Redis:
    return client_of_store(store_url)


@pytest.fixture
async def games(settings: Settings) -> AsyncIterator[Games]:
    assert settings.store_url is not None
    async with open_store(settings.store_url.get_secret_value()) as store:
        yield games_of(store, settings)


def answer(decision: int, seat: int) -> bytes:
    return encode_input(engine_pb2.LoggedInput(kind=ANSWER, seat=seat, decision=str(decision), picks=[seat]))


def orders(number: int) -> bytes:
    return encode_input(engine_pb2.LoggedInput(kind=ORDERS, seat=number % 7, orders={"heroic": str(number)}))


async def test_the_answers_to_a_decision_are_found_among_others_and_among_orders(games: Games, store: Redis) -> None:
    """Decisions 3, 6, 9, ... are answered by two seats, with as many orders in between as its number."""
    game, log = new_game(new_request_id()), []
    expected: dict[int, list[tuple[int, bytes]]] = {}
    for decision in range(3, 150, 3):
        for seat in (1, 2):
            log.append(answer(decision, seat))
            expected.setdefault(decision, []).append((len(log), log[-1]))
            log += [orders(number) for number in range(decision if seat == 1 else 0)]
    store.rpush(game.log, *log)

    for decision in range(1, 152):
        assert await games.answers(game, str(decision), len(log)) == expected.get(decision, []), decision
    (first, entry), (second, _) = expected[99]
    assert await games.answers(game, "99", second - 1) == [(first, entry)]
    assert await games.answers(game, "99", first - 1) == []
    assert await games.answers(game, "round-2", len(log)) == []


async def test_a_log_of_orders_answers_nothing(games: Games, store: Redis) -> None:
    game = new_game(new_request_id())
    assert await games.answers(game, "1", 0) == []

    store.rpush(game.log, *map(orders, range(100)))

    assert await games.answers(game, "1", 100) == []
