"""What the store finds in a long game, without reading it all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from hashlib import blake2b

import pytest
from redis import Redis

from roundtable.engine.v1 import engine_pb2
from services.runtime.settings import Settings
from services.runtime.store import open_store
from services.session.keys import GameKeys, new_game
from services.session.log import encode_input
from services.session.requests import Request
from services.session.store import Begun, Birth, Entry, Games, Meta, Step, games_of, now_ms
from tests.integration.seats import new_request_id

TOKEN, SALT = b"t" * 16, bytes(16)
ANSWER, ORDERS = engine_pb2.INPUT_KIND_ANSWER, engine_pb2.INPUT_KIND_STANDING_ORDERS


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


async def begin(games: Games) -> GameKeys:
    game = new_game(new_request_id())
    birth, begun = Birth(bytes(16), SALT, bytes(64), b""), Begun(b"state", b"origin")
    await games.create(game, Meta(2, True, SALT), birth, [TOKEN], begun, Entry(bytes(8), now_ms(), False, b"", {}))
    return game


async def step(games: Games, game: GameKeys, request: Request, inputs: int, *, last: bool = False) -> int:
    """Commits a step that has several inputs, and gives the version that the request made."""
    before = await games.load(game, TOKEN, request)
    assert before.earlier is None
    resolved = engine_pb2.Resolved(
        state=b"state",
        version=before.version + inputs,
        inputs=[engine_pb2.LoggedInput(kind=ANSWER, decision="1")] * inputs,
    )
    assert await games.commit(game, before, Step(0, resolved, Entry(bytes(8), now_ms(), last, b"", {})), request)
    return before.version + 1


def request(number: int, content: str = "") -> Request:
    return Request(TOKEN, blake2b(bytes([number]), digest_size=5).digest(), content.encode().ljust(3))


async def test_every_request_of_a_long_game_is_known_again(games: Games) -> None:
    game = await begin(games)
    versions = [await step(games, game, request(number), 1 + number % 7) for number in range(99)]
    assert versions[-1] > 6 * 62  # several chunks, steps that lie across two, and inputs that nobody requested

    for over in (False, True):
        if over:
            versions.append(await step(games, game, request(99), 1, last=True))
            await games.trim(game)
        for number, version in enumerate(versions):
            earlier = (await games.load(game, TOKEN, request(number, "b"))).earlier
            assert earlier is not None
            assert (earlier.version, earlier.fingerprint) == (version, request(number).fingerprint)
        others = [request(number) for number in range(100, 200)]
        others += [Request(TOKEN, request(number).fingerprint[1:6], b"xyz") for number in range(99)]
        for other in others:
            assert (await games.load(game, TOKEN, other)).earlier is None


async def test_a_game_that_is_over_keeps_no_index(games: Games, store: Redis) -> None:
    game = await begin(games)

    def index() -> set[bytes]:
        names = {b"i%d" % number for number in range(16)}
        return names & set(store.hkeys(game.game))

    for number in range(61):
        await step(games, game, request(number), 1)
    assert index() == set()
    await step(games, game, request(61), 1)
    assert index()
    await step(games, game, request(62), 1, last=True)
    await games.trim(game)

    assert index() == set()


async def test_a_log_of_orders_answers_nothing(games: Games, store: Redis) -> None:
    game = new_game(new_request_id())
    assert await games.answers(game, "1", 0) == []

    store.rpush(game.log, *map(orders, range(100)))

    assert await games.answers(game, "1", 100) == []
