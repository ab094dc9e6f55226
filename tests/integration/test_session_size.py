"""What a long game takes in the store at its end."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from redis import Redis

from clients.players import picks_at_random
from roundtable.engine.v1 import engine_pb2
from services.runtime.settings import Settings, required
from services.runtime.store import open_store
from services.session.engines import Engines, open_engines
from services.session.keys import GameKeys, new_game
from services.session.moves import entry_of
from services.session.requests import request_of
from services.session.store import Begun, Birth, Games, Meta, Step, games_of
from tests.integration.conftest import OwnStore

SEED = 1
SEATS = 7
MOVES = 800
BYTES = 16 * 1024
SALT = bytes(16)


@pytest.mark.slow
async def test_a_game_of_800_moves_takes_16_kilobytes_at_its_end(settings: Settings, own_store: OwnStore) -> None:
    settings = settings.model_copy(update={"feed_entries": 64})
    game = new_game("a long game")
    addresses = required("engine_addresses", settings.engine_addresses)
    async with open_store(own_store.url) as store, open_engines(addresses, settings) as engines:
        games = games_of(store, settings)
        await _play(games, engines, game)
        await games.trim(game)
    with Redis.from_url(own_store.url) as client:
        assert sum(client.memory_usage(key, samples=0) or 0 for key in (game.game, game.log, game.feed)) <= BYTES


async def _play(games: Games, engines: Engines, game: GameKeys) -> None:
    """One game in the store from the moves of several real ones, as few random games are so long."""
    random = Random(SEED)
    seed = SEED
    opening = await engines.new_game(engine_pb2.NewGameRequest(game="camelot", seats=SEATS, seed=seed))
    table = opening.resolved
    birth = Birth(bytes(16), SALT, bytes(32 * SEATS), opening.commitment.SerializeToString())
    tokens = [bytes([seat]) * 16 for seat in range(SEATS)]
    begun = Begun(table.state, opening.origin)
    await games.create(game, Meta(SEATS, True, SALT), birth, tokens, begun, entry_of(table, SALT))
    for number in range(1, MOVES + 1):
        if not table.public.asked:
            seed += 1
            table = (await engines.new_game(engine_pb2.NewGameRequest(game="camelot", seats=SEATS, seed=seed))).resolved
        seat = random.choice(table.public.asked)
        decision = table.seats[seat].decision
        answer = engine_pb2.Answer(seat=seat, decision=decision.id, picks=picks_at_random(random, decision))
        table = await engines.resolve(engine_pb2.ResolveRequest(state=table.state, answer=answer))
        before = await games.load(game)
        resolved = engine_pb2.Resolved()
        resolved.CopyFrom(table)
        resolved.version = before.version + len(table.inputs)
        entry = msgspec.structs.replace(entry_of(table, SALT), last=number == MOVES)
        request = request_of("token", str(number), (decision.id,))
        assert await games.commit(game, before, Step(seat, resolved, entry), request)
