"""Records as files: written from what the services hand out, and verified."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console

from engine.catalogue import GAMES
from engine.core import records
from engine.core.errors import Refusal
from engine.core.games import Outcome
from roundtable.engine.v1 import engine_pb2
from roundtable.table.v1 import table_pb2
from services.cli.flags import failed
from services.engine.service import given


def write(file: Path, record: table_pb2.Record) -> None:
    """Writes a whole record. That of a game in play has its secrets, so that the file is for its owner only."""
    outcome = record.outcome
    if not (record.HasField("outcome") or record.closed):
        file.touch(mode=0o600)
        file.chmod(0o600)
    file.write_text(
        records.to_text(
            records.Record(
                game_id=record.game_id,
                game=record.game,
                rules_version=int(record.rules_version),
                seats=record.seats,
                options=dict(sorted(record.options.items())),
                commitment=record.commitment.commitment.hex(),
                verifiable=record.commitment.verifiable,
                secret=record.reveal.secret.hex(),
                contributions=tuple(each.hex() for each in record.reveal.contributions),
                outcome=records.recorded(Outcome(outcome.ending, outcome.rule, tuple(outcome.winners)))
                if record.HasField("outcome")
                else None,
                closed=record.closed,
                inputs=tuple(map(_input, record.inputs)),
            ).sealed()
        ),
        encoding="utf-8",
    )


def _input(recorded: table_pb2.RecordedInput) -> records.RecordedInput:
    logged = engine_pb2.LoggedInput(
        # The same values in both contracts.
        kind=engine_pb2.InputKind.ValueType(recorded.kind),
        seat=recorded.seat,
        decision=recorded.decision,
        picks=recorded.picks,
        orders=recorded.orders,
    )
    return records.RecordedInput.of(given(logged), recorded.digest)


def verify(file: Path, commitment: str | None) -> int:
    """Plays a record again and says in a line what came of it; gives the exit status.

    Raises:
        typer.BadParameter: the commitment is not of its form.
    """
    try:
        published = None if commitment is None else bytes.fromhex(commitment)
    except ValueError as error:
        raise typer.BadParameter("a commitment is hexadecimal digits", param_hint="--commitment") from error
    try:
        record, table = records.verify(GAMES, file.read_bytes(), published)
    except (OSError, Refusal, records.Altered) as error:
        return failed(f"{file}: {error}" if not isinstance(error, OSError) else str(error))
    if table.outcome is not None:
        ending = table.outcome.ending.replace("_", " ")
    else:
        ending = f"closed: {record.closed}" if record.closed else "not finished"
    chance = (
        "the seed is the one committed to" if record.verifiable else "the seed is as told, but was not drawn by chance"
    )
    Console(highlight=False).print(
        f"{file} is verified: {table.game.title}, {record.seats} seats, {len(record.inputs)} inputs, {ending}; "
        f"every digest is right, and {chance}",
        markup=False,
        soft_wrap=True,
    )
    return 0
