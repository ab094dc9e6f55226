"""What a game takes in the store: a real one as it goes on, and a very long one at its end."""

from __future__ import annotations

from random import Random

import msgspec
from grpc import aio
from redis import Redis

from clients.players import picks_at_random
from loadtests.measuring import Figures
from loadtests.recording import Recording
from loadtests.turn import Replay
from roundtable.engine.v1 import engine_pb2
from roundtable.session.v1.session_pb2_grpc import SessionServiceStub
from services.runtime.settings import Settings, required
from services.runtime.store import open_store
from services.session.engines import Engines, open_engines
from services.session.keys import GameKeys, find_game, new_game
from services.session.moves import entry_of
from services.session.requests import request_of
from services.session.store import Begun, Birth, Games, Meta, Step, games_of

LONG_GAME_MOVES = 800

_SEED = 1
_SEATS = 7
_SALT = bytes(16)


def bytes_of(client: Redis, game: GameKeys) -> int:
    """What the store says that all keys of a game take."""
    return sum(int(client.memory_usage(key, samples=0) or 0) for key in (game.game, game.log, game.feed))


async def sizes(settings: Settings, address: str, recording: Recording) -> Figures:
    """One game through the session service at this address, in bytes: when it is open, at half of its moves, finished,
    and once its feed is trimmed."""
    url = required("store_url", settings.store_url).get_secret_value()
    with Redis.from_url(url) as client:
        async with aio.insecure_channel(address) as channel, open_store(url) as store:
            replay = Replay(SessionServiceStub(channel), recording)
            await replay.create()
            game = find_game(replay.game_id)
            moves = len(recording.moves)
            figures = {"moves": moves, "open_bytes": bytes_of(client, game)}
            for number in range(moves):
                if number == moves // 2:
                    figures["half_bytes"] = bytes_of(client, game)
                await replay.move(number)
            figures["finished_bytes"] = bytes_of(client, game)
            await games_of(store, settings).trim(game)
            return {**figures, "trimmed_bytes": bytes_of(client, game)}


async def long_game_bytes(settings: Settings, moves: int = LONG_GAME_MOVES) -> int:
    """What a game of so many moves takes at its end, its feed trimmed."""
    url = required("store_url", settings.store_url).get_secret_value()
    addresses = required("engine_addresses", settings.engine_addresses)
    game = new_game("a long game")
    async with open_store(url) as store, open_engines(addresses, settings) as engines:
        games = games_of(store, settings)
        await _play(games, engines, game, moves)
        await games.trim(game)
    with Redis.from_url(url) as client:
        return bytes_of(client, game)


async def _play(games: Games, engines: Engines, game: GameKeys, moves: int) -> None:
    """One game in the store from the moves of several real ones, as few random games are so long."""
    random = Random(_SEED)
    seed = _SEED
    opening = await engines.new_game(engine_pb2.NewGameRequest(game="camelot", seats=_SEATS, seed=seed))
    table = opening.resolved
    birth = Birth(bytes(16), _SALT, bytes(32 * _SEATS), opening.commitment.SerializeToString())
    tokens = [bytes([seat]) * 16 for seat in range(_SEATS)]
    begun = Begun(table.state, opening.origin)
    await games.create(game, Meta(_SEATS, True, _SALT), birth, tokens, begun, entry_of(table, _SALT))
    for number in range(1, moves + 1):
        if not table.public.asked:
            seed += 1
            table = (
                await engines.new_game(engine_pb2.NewGameRequest(game="camelot", seats=_SEATS, seed=seed))
            ).resolved
        seat = random.choice(table.public.asked)
        decision = table.seats[seat].decision
        answer = engine_pb2.Answer(seat=seat, decision=decision.id, picks=picks_at_random(random, decision))
        table = await engines.resolve(engine_pb2.ResolveRequest(state=table.state, answer=answer))
        before = await games.load(game)
        resolved = engine_pb2.Resolved()
        resolved.CopyFrom(table)
        resolved.version = before.version + len(table.inputs)
        entry = msgspec.structs.replace(entry_of(table, _SALT), last=number == moves)
        request = request_of("token", str(number), (decision.id,))
        if not await games.commit(game, before, Step(seat, resolved, entry), request):
            raise RuntimeError(f"move {number} of the long game was not put into the store")
