"""Real games, recorded from the engine service, to be played again by clients that need not think."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import msgspec
from grpc import aio

from clients.choosing import choose_at_random
from roundtable.engine.v1 import engine_pb2 as engine
from roundtable.engine.v1.engine_pb2_grpc import EngineServiceStub
from roundtable.table.v1.table_pb2 import Decision


@dataclass(frozen=True)
class Recording:
    """A game from a fixed seed: whoever creates it again can make the same moves."""

    game: str
    seats: int
    seed: int
    opening: engine.NewGameResponse
    moves: list[engine.Answer]
    steps: list[engine.Resolved]
    """What came of each move."""


class Canned(msgspec.Struct):
    """The engine's answers in recorded games, as serialised messages."""

    openings: dict[int, bytes]
    """NewGameResponse by the seed that was asked for."""
    steps: dict[bytes, bytes]
    """ResolveResponse by the state that was sent; states are distinct."""


async def record(address: str, game: str, seats: int, seed: int) -> Recording:
    """Plays a game by random choices on an engine service, which must allow seeds."""
    random = Random(seed)
    async with aio.insecure_channel(address) as channel:
        service = EngineServiceStub(channel)
        opening = await service.NewGame(engine.NewGameRequest(game=game, seats=seats, seed=seed))
        recording = Recording(game, seats, seed, opening, [], [])
        table = opening.resolved
        calls = service.Resolve()
        while not table.public.HasField("outcome"):
            seat = random.choice(table.public.asked)
            decision = table.seats[seat].decision
            move = engine.Answer(seat=seat, decision=decision.id, picks=_picks(random, decision))
            await calls.write(engine.ResolveRequest(call=1, state=table.state, answer=move))
            response = await calls.read()
            if not isinstance(response, engine.ResolveResponse) or not response.HasField("resolved"):
                raise RuntimeError(f"move {len(recording.moves) + 1} of a random game was not resolved: {response}")
            table = response.resolved
            recording.moves.append(move)
            recording.steps.append(table)
        await calls.done_writing()
    return recording


def _picks(random: Random, decision: Decision) -> list[str]:
    alone = [option.alone for option in decision.options]
    places = choose_at_random(random, alone, decision.min, decision.max, ordered=decision.ordered)
    return [decision.options[place].id for place in places]


def can(recordings: Sequence[Recording]) -> bytes:
    """What the bare pipeline needs to know of recorded games."""
    canned = Canned({}, {})
    for recording in recordings:
        canned.openings[recording.seed] = recording.opening.SerializeToString()
        before = recording.opening.resolved.state
        for step in recording.steps:
            canned.steps[before] = engine.ResolveResponse(call=1, resolved=step).SerializeToString()
            before = step.state
    return msgspec.msgpack.encode(canned)
