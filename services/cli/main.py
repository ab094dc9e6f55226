"""The `roundtable` command. Its subcommands import what they need when they run, so that services start quickly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from engine.core.data import DataError, faults_in
from services.cli import position
from services.cli.flags import Options, bad_parameter, failed, load_settings, parse_options, settings_flags
from services.runtime.errors import Reason
from services.runtime.settings import Settings, describe

app = typer.Typer(help="A backend for turn-based tabletop games.", add_completion=False, pretty_exceptions_enable=False)

# A game of some 150 moves then takes a quarter of a minute.
_WATCHABLE_PAUSE = 0.1
# Players who think before they move also say something now and then.
_TALK = 0.05


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and gives its exit status: 1 for a failure, 2 for bad arguments, 130 after Ctrl-C."""
    try:
        return app(arguments, prog_name="roundtable", standalone_mode=False) or 0
    except typer.TyperException as error:
        message = " ".join(error.format_message().split())
        failed(message)
        return error.exit_code
    except (DataError, ExceptionGroup) as error:
        faults = faults_in(error)
        if not faults:
            raise
        for fault in faults:
            failed(f"{Reason.DATA_FILE}: {fault}")
        return 1


@app.command()
def simulate(
    game: Annotated[str, typer.Argument(help="id of a game", show_default=False)],
    players: Annotated[int | None, typer.Option(help="number of seats; as many as there are if left out")] = None,
    games: Annotated[int, typer.Option(min=1, help="number of games")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="decides every deal and every choice")] = 1,
    option: Options = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> int:
    """Play games in this process with random choices, without services."""
    from rich.progress import Progress

    from engine.catalogue import GAMES
    from engine.core.errors import Refusal
    from services.cli.simulate import simulate

    notes = Console(stderr=True)
    try:
        declared = GAMES.get(game)
        with Progress(console=notes, transient=True, disable=not notes.is_terminal) as progress:
            task = progress.add_task(declared.title, total=games)
            report = simulate(
                declared,
                declared.seats[-1] if players is None else players,
                parse_options(option),
                games,
                seed,
                played=lambda: progress.advance(task),
            )
    except Refusal as refusal:
        raise bad_parameter(refusal.message, refusal.field, refusal.about) from refusal
    if as_json:
        typer.echo(json.dumps(report.for_programs()))
    else:
        Console().print(report.for_people())
    return 0 if report.finished == games else 1


@app.command()
def demo(
    game: Annotated[str, typer.Option(help="id of a game")] = "camelot",
    players: Annotated[int, typer.Option(min=1, max=16, help="number of seats of each game")] = 5,
    games: Annotated[int, typer.Option(min=1, max=1000, help="number of games, played at once")] = 1,
    seed: Annotated[int | None, typer.Option(min=0, max=1 << 50, help="repeats the deals", show_default=False)] = None,
    option: Options = None,
    pause: Annotated[
        float | None,
        typer.Option(
            min=0, max=10, help="seconds a player thinks before each move; a little for one game on a terminal, else 0"
        ),
    ] = None,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="FILE", help="leave the record of the game, for `verify`")
    ] = None,
) -> int:
    """Play whole games through all services, which are started for it and stopped afterwards."""
    from clients.gathering import Gathering
    from engine.catalogue import GAMES
    from engine.core.errors import Refusal
    from services.cli.demo import demo

    if record is not None and games > 1:
        raise typer.BadParameter("one game leaves a record; there are several", param_hint="--record")
    if pause is None:
        pause = _WATCHABLE_PAUSE if games == 1 and Console().is_terminal else 0.0
    settings = load_settings().model_copy(update={"allow_seeds": seed is not None})
    options = parse_options(option)
    try:
        GAMES.get(game).check(players, options)
    except Refusal as refusal:
        raise bad_parameter(refusal.message, refusal.field, refusal.about) from refusal
    talk = _TALK if pause else 0.0
    gathering = Gathering(game, players, games, options=options, seed=seed, pause=pause, talk=talk)
    return demo(gathering, settings, record)


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="record of a game", show_default=False)],
    commitment: Annotated[
        str | None, typer.Option(metavar="HEX", help="the promise about its chance, as it was published at the start")
    ] = None,
) -> int:
    """Play a recorded game again: checks its seed against the commitment, every input and every digest.

    Exit status: 1 if anything is not as it was played; the first input that differs is named.
    """
    from services.cli.records import verify

    return verify(file, commitment)


@app.command()
@settings_flags
def serve(
    services: Annotated[
        list[str], typer.Argument(metavar="SERVICE...", help="engine, session, matchmaking, or all", show_default=False)
    ],
    settings: Settings,
) -> int:
    """Run services until SIGTERM or Ctrl-C: one in this process, several in processes of their own.

    Several know each other and get free ports. `all` starts a store too, unless the settings name one.
    """
    from services.cli.serve import serve

    return serve(services, settings)


admin = typer.Typer(help="Look after games in the store.", no_args_is_help=True)
app.add_typer(admin, name="admin")


@admin.command("game")
@settings_flags
def admin_game(
    game_id: Annotated[str, typer.Argument(metavar="ID", help="id of the game", show_default=False)],
    settings: Settings,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="make its table anew from its log")] = False,
    end: Annotated[
        str | None, typer.Option(metavar="REASON", help="close it without an outcome; players are told the reason")
    ] = None,
    export: Annotated[Path | None, typer.Option(metavar="FILE", help="write its record, as JSON")] = None,
    secrets: Annotated[
        bool, typer.Option("--secrets", help="show what no player may know, and export a game in play")
    ] = False,
) -> int:
    """Show one game's keys, check them against its log, and mend it.

    Exit status: 0 if nothing is wrong (any more), 3 if something is, 1 if what was asked could not be done.
    """
    from services.cli.admin import Wish, admin_game

    if end is not None and not 1 <= len(end) <= 120:
        raise typer.BadParameter("a reason has 1 to 120 characters", param_hint="--end")
    return admin_game(game_id, Wish(rebuild, end, export, secrets), settings)


app.add_typer(position.app, name="position")


@app.command()
@settings_flags
def token(
    player_id: Annotated[str, typer.Argument(metavar="PLAYER", help="id of the player", show_default=False)],
    settings: Settings,
) -> int:
    """Print the token with which a player lists its games; it is made with the services' player key."""
    from services.runtime.players import player_token

    if settings.player_key is None:
        return failed("player_key is not set")
    typer.echo(player_token(settings.player_key.get_secret_value(), player_id))
    return 0


@app.command()
@settings_flags
def config(settings: Settings) -> int:
    """Print the settings in force, with secrets masked."""
    rows = [(f"{setting.variable}={setting.value}", setting.description) for setting in describe(settings)]
    width = max(len(assignment) for assignment, _ in rows)
    for assignment, description in rows:
        typer.echo(f"{assignment:{width}}  {description}")
    return 0
