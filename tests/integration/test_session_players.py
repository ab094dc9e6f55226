"""The games of a player."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from redis import Redis

from roundtable.session.v1 import session_pb2
from services.runtime.errors import Reason
from services.runtime.players import player_token
from services.runtime.processes import Processes
from services.runtime.server import Ready
from services.runtime.settings import Settings, required
from services.runtime.store import open_store
from services.session.abandoned import Abandoned
from services.session.inspection import end, look
from services.session.keys import find_game, player_list
from services.session.players import PlayerIndex
from services.session.store import games_of
from tests.integration.conftest import PLAYER_KEY
from tests.integration.matchmaking_fixtures import matchmaking
from tests.integration.seats import SECONDS, Seats, Session, client_of, new_game, new_request_id, refused

SEED = 20261201
OPEN, FINISHED, CLOSED = session_pb2.GAME_STATE_OPEN, session_pb2.GAME_STATE_FINISHED, session_pb2.GAME_STATE_CLOSED


@pytest.fixture
def player() -> str:
    """Somebody who has no games yet."""
    return new_request_id()


def ask(player: str, **wish: object) -> session_pb2.ListGamesRequest:
    asked: dict[str, object] = {"player_id": player, "player_token": player_token(PLAYER_KEY, player), **wish}
    return session_pb2.ListGamesRequest(**asked)  # type: ignore[arg-type]


async def games_of_player(session: Session, player: str) -> list[session_pb2.PlayerGame]:
    return list((await session.stub.ListGames(ask(player), timeout=SECONDS)).games)


async def create(session: Session, player: str, seat: int = 0) -> Seats:
    return await session.create(player_ids=[player if each == seat else "" for each in range(5)])


async def test_a_player_sees_its_games_and_whose_turn_it_is(
    both: list[Session], player: str, settings: Settings
) -> None:
    """Those that go on first, the newest first."""
    finished, old, closed, new = [await create(both[0], player, seat) for seat in range(4)]
    await finished.play(both[0], Random(SEED))
    await old.play(both[0], Random(SEED), moves=6)
    async with open_store(required("store_url", settings.store_url).get_secret_value()) as opened:
        games = games_of(opened, settings)
        await end(games, await look(opened, games, find_game(closed.game_id)), "a test")

    listed = await games_of_player(both[1], player)

    assert [(game.game_id, game.seat, game.state) for game in listed] == [
        (new.game_id, 3, OPEN),
        (old.game_id, 1, OPEN),
        (closed.game_id, 2, CLOSED),
        (finished.game_id, 0, FINISHED),
    ]
    assert {game.game for game in listed} == {"camelot"}
    for game in listed:
        update = (await both[0].view(game.game_id, None)).update
        assert game.version == update.version
        assert list(game.asked) == ([] if game.state == CLOSED else list(update.asked))
        assert game.outcome == update.outcome
    created = [game.created_at.ToMilliseconds() for game in listed]
    assert created[0] > created[1]
    assert created[2] > created[3]

    # The same game by game, and again.
    for _ in range(2):
        pages: list[session_pb2.PlayerGame] = []
        token = ""
        while not pages or token:
            page = await both[0].stub.ListGames(ask(player, page_size=1, page_token=token), timeout=SECONDS)
            pages += page.games
            token = page.next_page_token
        assert pages == listed


async def test_a_player_of_two_seats_has_the_game_twice(both: list[Session], player: str) -> None:
    await both[0].create(player_ids=[player, "", "", player, ""])

    assert sorted(game.seat for game in await games_of_player(both[0], player)) == [0, 3]


async def test_games_that_are_gone_are_no_longer_listed(both: list[Session], player: str, store: Redis) -> None:
    seats = [await create(both[0], player) for _ in range(3)]
    first = await both[0].stub.ListGames(ask(player, page_size=1), timeout=SECONDS)
    store.delete(find_game(seats[1].game_id).game)

    rest = await both[0].stub.ListGames(ask(player, page_token=first.next_page_token), timeout=SECONDS)
    listed = await games_of_player(both[0], player)

    assert [game.game_id for game in rest.games] == [seats[0].game_id]
    assert [game.game_id for game in listed] == [seats[2].game_id, seats[0].game_id]
    assert store.zcard(player_list(player)) == 2


async def test_a_lost_list_is_made_again_while_its_games_go_on(
    both: list[Session], player: str, store: Redis, settings: Settings
) -> None:
    seats = await create(both[0], player, 4)
    (before,) = await games_of_player(both[0], player)
    assert 7 * 24 * 3600 < store.ttl(player_list(player)) <= 10 * 24 * 3600
    store.delete(player_list(player))
    assert await games_of_player(both[0], player) == []

    game = find_game(seats.game_id)
    async with open_store(required("store_url", settings.store_url).get_secret_value()) as opened:
        index = PlayerIndex(opened, finished_seconds=60)
        await Abandoned(opened, games_of(opened, settings), index, seconds=3600).look(game.bucket, game.id)

    assert await games_of_player(both[0], player) == [before]


async def test_of_more_than_256_games_those_over_and_the_oldest_are_left_out(
    both: list[Session], player: str, store: Redis
) -> None:
    key = player_list(player)
    store.zadd(key, {f"open {number}": (1 << 42) + number for number in range(255)} | {"over": 1 << 41})

    await create(both[0], player)
    assert store.zcard(key) == 256
    assert store.zscore(key, "over") is None
    await create(both[0], player)
    assert store.zcard(key) == 256
    assert store.zscore(key, "open 0") is None
    assert store.zscore(key, "open 1") is not None


@pytest.mark.parametrize(
    ("change", "reason", "field"),
    [
        ({"player_id": ""}, Reason.FIELD_MISSING, "player_id"),
        ({"player_token": ""}, Reason.FIELD_MISSING, "player_token"),
        ({"player_token": "x" * 65}, Reason.FIELD_TOO_LONG, "player_token"),
        ({"player_token": "é" * 43}, Reason.PLAYER_TOKEN_INVALID, "player_token"),
        ({"player_id": "somebody else"}, Reason.PLAYER_TOKEN_INVALID, "player_token"),
        ({"page_size": 51}, Reason.FIELD_INVALID, "page_size"),
        ({"page_token": "page"}, Reason.FIELD_INVALID, "page_token"),
        ({"page_token": "x" * 257}, Reason.FIELD_TOO_LONG, "page_token"),
    ],
)
async def test_a_list_is_for_its_player_only(
    both: list[Session], player: str, change: dict[str, object], reason: Reason, field: str
) -> None:
    await create(both[0], player)

    with refused(reason, {"field": field}):
        await both[0].stub.ListGames(ask(player, **change), timeout=SECONDS)


async def test_without_a_key_there_are_no_lists(processes: Processes, settings: Settings, player: str) -> None:
    settings = settings.model_copy(update={"player_key": None})
    ready = await asyncio.to_thread(processes.serve, "session", settings)
    async with client_of(ready.address) as [session]:
        with refused(Reason.PLAYER_TOKENS_OFF):
            await session.stub.ListGames(ask(player), timeout=SECONDS)


@pytest.mark.parametrize(
    ("player_ids", "reason"),
    [
        (["a"], Reason.FIELD_INVALID),
        (["a"] * 6, Reason.FIELD_INVALID),
        (["a", "", "", "", "x" * 65], Reason.FIELD_TOO_LONG),
    ],
)
async def test_players_are_named_for_each_seat(both: list[Session], player_ids: list[str], reason: Reason) -> None:
    with refused(reason, {"field": "player_ids"}):
        await both[0].stub.CreateGame(new_game(player_ids=player_ids), timeout=SECONDS)


async def test_the_players_are_part_of_what_a_request_asks_for(both: list[Session], player: str) -> None:
    request = new_game(player_ids=[player, "", "", "", ""])
    created = await both[0].stub.CreateGame(request, timeout=SECONDS)

    assert await both[1].stub.CreateGame(request, timeout=SECONDS) == created
    request.player_ids[:] = ["", player, "", "", ""]
    with refused(Reason.REQUEST_ID_REUSED):
        await both[1].stub.CreateGame(request, timeout=SECONDS)
    assert [game.seat for game in await games_of_player(both[0], player)] == [0]


async def test_matched_players_have_their_game_in_their_lists(
    both: list[Session], processes: Processes, settings: Settings, sessions: tuple[Ready, Ready]
) -> None:
    settings = settings.model_copy(update={"session_address": sessions[0].address})
    players = [new_request_id() for _ in range(3)]
    async with matchmaking(processes, settings, seed=SEED) as queue:
        tickets = [await queue.create(player_id=player) for player in players]
        matched = await queue.seats(tickets)

    for player, seat in zip(players, matched, strict=True):
        listed = await games_of_player(both[1], player)
        assert [(game.game_id, game.seat) for game in listed] == [(seat.game_id, seat.seat)]
