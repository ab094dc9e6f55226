"""The final record of a game, as the session service gives it, replayed by the engine from the seed it was dealt from.

The only place of the run that knows more than clients do: with the salt, which the store keeps, cursors can be checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grpc import aio

from loadtests.faults.checker import Move, Record
from loadtests.faults.history import OK, Line, Seen, Try, digest_of
from roundtable.engine.v1 import engine_pb2 as engine
from roundtable.engine.v1.engine_pb2_grpc import EngineServiceStub
from roundtable.session.v1 import session_pb2 as session
from roundtable.session.v1.session_pb2_grpc import SessionServiceStub
from roundtable.table.v1.table_pb2 import RecordedInput
from services.session.cursors import decode_cursor, mark_of
from services.session.keys import find_game
from services.session.store import Games


async def final_record(
    salts: Games,
    sessions: aio.Channel,
    engines: aio.Channel,
    game_id: str,
    opening: engine.NewGameRequest,
    lines: Iterable[Line],
) -> Record:
    """
    Args:
        opening: what the game was dealt from.
        lines: what clients saw; the record has the views at the versions at which they looked.
    """
    lines = list(lines)
    recorded = (await SessionServiceStub(sessions).GetRecord(session.GetRecordRequest(game_id=game_id))).record
    steps, picks = await _replay(engines, opening, recorded.inputs)
    digests = [recorded_input.digest for recorded_input in recorded.inputs]
    if digests != [step.digest for step in steps[1:]]:
        raise RuntimeError(f"the digests of the record of {opening.seed} are not those of its inputs")
    salt = (await salts.load(find_game(game_id))).meta.salt
    rules = EngineServiceStub(engines)
    views = {}
    for version in sorted(_looked_at(lines)):
        if version < len(steps):
            for seat in range(opening.seats):
                seen = await rules.View(engine.ViewRequest(state=steps[version].state, seat=seat))
                views[version, seat] = digest_of(seen.view, seen.update)
    cursors = {line.cursor: decode_cursor(game_id, line.cursor) for line in lines if isinstance(line, Seen)}
    marks = [mark_of(step.digest, salt).hex() for step in steps]
    return Record(
        game_id,
        opening.seats,
        recorded.HasField("outcome") and recorded.outcome == steps[-1].public.outcome,
        [Move(each.seat, each.decision, chosen) for each, chosen in zip(recorded.inputs, picks, strict=True)],
        [{seat: digest_of(update) for seat, update in step.seats.items()} for step in steps[1:]],
        views,
        marks,
        {text: (cursor.position, cursor.mark.hex()) for text, cursor in cursors.items()},
    )


def _looked_at(lines: Iterable[Line]) -> set[int]:
    snapshots = {line.version for line in lines if isinstance(line, Seen) and line.kind == "snapshot"}
    return snapshots | {
        line.version for line in lines if isinstance(line, Try) and line.call == "GetView" and line.answer == OK
    }


async def _replay(
    engines: aio.Channel, opening: engine.NewGameRequest, log: Sequence[RecordedInput]
) -> tuple[list[engine.Resolved], list[tuple[str, ...]]]:
    """The table at each version, and the ids of what each input picked.

    Raises:
        RuntimeError: the log is not one that the rules allow.
    """
    rules = EngineServiceStub(engines)
    steps = [(await rules.NewGame(opening)).resolved]
    chosen = []
    calls = rules.Resolve()
    for number, logged in enumerate(log, 1):
        before = steps[-1]
        options = before.seats[logged.seat].decision.options
        picks = [options[place].id for place in logged.picks if place < len(options)]
        answer = engine.Answer(seat=logged.seat, decision=logged.decision, picks=picks)
        await calls.write(engine.ResolveRequest(call=number, state=before.state, answer=answer))
        response = await calls.read()
        if not isinstance(response, engine.ResolveResponse) or not response.HasField("resolved"):
            raise RuntimeError(f"the rules refuse input {number} of the log of {opening.seed}")
        (played,) = response.resolved.inputs
        if (int(played.kind), list(played.picks)) != (int(logged.kind), list(logged.picks)):
            raise RuntimeError(f"input {number} of the log of {opening.seed} replays as another")
        steps.append(response.resolved)
        chosen.append(tuple(picks))
    await calls.done_writing()
    return steps, chosen
