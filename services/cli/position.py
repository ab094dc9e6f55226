"""`roundtable position`: any moment of a game as a file, shown, asked about and played on, without services."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from msgspec import structs
from rich.console import Console
from rich.table import Table as Grid

from services.cli.flags import Options, bad_parameter, failed, parse_options

if TYPE_CHECKING:  # what costs time to import is imported by the commands that need it
    from engine.core.errors import Refusal
    from engine.core.events import Event
    from engine.core.table import Table

app = typer.Typer(help="Put any moment of a game on the table, and see what the rules say.", no_args_is_help=True)

FAULTY = 2
"""Exit status for a file that is no position."""

Position = Annotated[str, typer.Argument(metavar="FILE", help="a position; - for standard input", show_default=False)]
Seat = Annotated[int, typer.Option("--seat", min=0, max=15, help="number of the seat", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="print one JSON object")]


class Unreadable(Exception):
    """The file cannot be read, or is no position; everything that is wrong has been told."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@app.command()
def new(
    game: Annotated[str, typer.Argument(help="id of a game", show_default=False)],
    players: Annotated[int | None, typer.Option(help="number of seats; as many as there are if left out")] = None,
    seed: Annotated[int, typer.Option(min=0, max=(1 << 64) - 1, help="decides the deal")] = 0,
    option: Options = None,
) -> int:
    """Print the position in which a game begins."""
    from engine.catalogue import GAMES
    from engine.core.chance import Seed
    from engine.core.errors import Refusal
    from engine.core.table import Table

    try:
        declared = GAMES.get(game)
        seats = declared.seats[-1] if players is None else players
        table, _ = Table.new(declared, seats, parse_options(option), Seed.fixed(seed))
    except Refusal as refusal:
        raise bad_parameter(refusal.message, refusal.field, refusal.about) from refusal
    _print(table)
    return 0


@app.command()
def show(file: Position) -> int:
    """Draw the table with everything on it that is secret to somebody, and what is asked."""
    try:
        table = _read(file)
    except Unreadable as error:
        return error.status
    _draw(table, None, list(table.game.seats_of(table.play)))
    return 0


@app.command()
def view(file: Position, seat: Seat, as_json: AsJson = False) -> int:
    """Draw what one seat may know."""
    from google.protobuf.json_format import MessageToDict

    from services.engine.service import WIRES

    try:
        table = _read(file)
    except Unreadable as error:
        return error.status
    _check_seat(table, seat)
    if not as_json:
        _draw(table, seat, [seat])
        return 0
    wire = WIRES[table.game.id]
    update = wire.update(table)
    wire.add_private(update, table, seat)
    parts = {"view": wire.view(table, seat), "update": update}
    typer.echo(
        json.dumps({name: MessageToDict(part, preserving_proto_field_name=True) for name, part in parts.items()})
    )
    return 0


@app.command()
def options(file: Position, as_json: AsJson = False) -> int:
    """List the open decisions with every option: its id, the rule that allows it, and what it means."""
    try:
        table = _read(file)
    except Unreadable as error:
        return error.status
    if as_json:
        decisions = [{"seat": seat, **_decision(table, seat)} for seat in table.asked]
        typer.echo(json.dumps({"decision": table.decision, "decisions": decisions}))
    else:
        _list_options(table, list(table.asked), Console())
    return 0


@app.command()
def pick(
    file: Position,
    seat: Seat,
    option: Annotated[list[str] | None, typer.Argument(metavar="OPTION...", help="ids of the picked options")] = None,
) -> int:
    """Answer a seat's open decision: prints the position that it makes, and what happens on standard error.

    Exit status: 1 if the rules do not take the answer.
    """
    from engine.core.errors import Refusal

    try:
        table = _read(file)
    except Unreadable as error:
        return error.status
    _check_seat(table, seat)
    try:
        step = table.answer(seat, table.decision, option or [])
    except Refusal as refusal:
        return failed(f"{refusal.reason}: {_text(table, refusal)}")
    events = Console(stderr=True, highlight=False)
    for told in step.told:
        events.print(_event(told.seen_by(seat)), markup=False, soft_wrap=True)
    _print(table)
    return 0


@app.command()
def why(
    file: Position,
    seat: Seat,
    candidate: Annotated[str, typer.Argument(help="id of an option, for instance move:grail", show_default=False)],
) -> int:
    """Tell why a seat is, or is not, offered something now: the rule, and the condition that fails.

    Exit status: 1 if nothing can be said of it.
    """
    from engine.core.errors import Refusal

    try:
        table = _read(file)
    except Unreadable as error:
        return error.status
    _check_seat(table, seat)
    try:
        found = table.explain(seat, candidate)
    except Refusal as refusal:
        return failed(f"{refusal.reason}: {_text(table, refusal)}")
    if not found.known:
        return failed(f"UNKNOWN_OPTION: no such candidate belongs to this decision: {candidate}")
    rule = table.game.rules[found.rule]
    offered = "offered" if found.offered else "not offered"
    typer.echo(f"{candidate} is {offered}: {rule.number}, {rule.title}")
    return 0


def _read(file: str) -> Table:
    """The table of a position; tells what is wrong with the file, a line for each fault.

    Raises:
        Unreadable: it is no position, or no file.
    """
    from engine.catalogue import GAMES
    from engine.core.positions import PositionError, read_text

    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return read_text(GAMES, data.decode())
    except PositionError as refusal:
        for fault in refusal.faults:
            failed(f"{file}: {fault}")
    except UnicodeDecodeError:
        failed(f"{file}: this is not text in UTF-8")
    except OSError as error:
        failed(str(error))
    raise Unreadable(FAULTY)


def _print(table: Table) -> None:
    from engine.core.positions import to_text, write

    typer.echo(to_text(write(table)), nl=False)


def _check_seat(table: Table, seat: int) -> None:
    if seat not in table.game.seats_of(table.play):
        raise typer.BadParameter("there is no such seat", param_hint="--seat")


def _draw(table: Table, viewer: int | None, owners: list[int]) -> None:
    """The board as a viewer sees it, what some seats alone know, and what they are asked."""
    from clients.terminal.boards import board_of
    from services.engine.service import WIRES

    wire, board, console = WIRES[table.game.id], board_of(table.game.id), Console(highlight=False)
    update, seen = wire.update(table), wire.view(table, viewer)
    console.print(board.picture(seen, update))
    secrets = [board.secrets(wire.view(table, seat)) for seat in owners]
    console.print("", *filter(None, secrets), sep="\n", markup=False, soft_wrap=True)
    if table.outcome is not None:
        console.print("", board.verdict(seen, update.outcome), sep="\n", soft_wrap=True)
    _list_options(table, [seat for seat in owners if seat in table.asked], console)


def _list_options(table: Table, seats: list[int], console: Console) -> None:
    for seat in seats:
        decision = _decision(table, seat)
        least, most = decision["min"], decision["max"]
        number = f"{least}" if least == most else f"{least} to {most}"
        order = ", in any order that is meant" if decision["ordered"] else ""
        grid = Grid("option", "rule", "meaning", box=None)
        for option in decision["options"]:
            meaning = option["title"] + (" (alone)" if option["alone"] else "")
            grid.add_row(option["id"], option["rule"], meaning)
        console.print(f"\nseat {seat}, {decision['key']}: pick {number}{order}", grid, sep="\n", markup=False)


def _decision(table: Table, seat: int) -> dict[str, Any]:
    question = table.question(seat)
    assert question is not None, "whoever is asked has a question"
    return {
        "key": question.key,
        "min": question.least,
        "max": question.most,
        "ordered": question.ordered,
        "default": [question.options[place].id for place in question.default],
        "options": [
            {"id": option.id, "rule": option.rule, "title": option.title, "alone": option.alone}
            for option in question.options
        ],
    }


def _text(table: Table, refusal: Refusal) -> str:
    about = "".join(f" ({value})" for value in refusal.about.values())
    rule = f": {refusal.rule}, {table.game.rules[refusal.rule].title}" if refusal.rule else ""
    return refusal.message + about + rule


def _event(event: Event) -> str:
    from engine.core.events import kind_of

    return " ".join([event.rule, kind_of(type(event)), *_details(event)])


def _details(event: Event) -> Iterator[str]:
    for field in structs.fields(event):
        value = getattr(event, field.name)
        if field.name != "rule" and value != field.default:
            yield f"{field.name}={_plain(value)}"


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_plain, value))
    return value.name.lower() if isinstance(value, IntEnum) else str(value).lower()
