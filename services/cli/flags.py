"""What commands have in common: their flags, and settings from flags and variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.console import Console

from services.runtime.settings import ENVIRONMENT_PREFIX, Settings

Command = Callable[..., int]

Options = Annotated[
    list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="set a game option; can be repeated")
]


def failed(message: str) -> int:
    """Tells a failure on standard error; gives the exit status."""
    shown = "".join(sign if sign.isprintable() or sign == "\n" else ascii(sign)[1:-1] for sign in message)
    Console(stderr=True).print(f"roundtable: {shown}", markup=False, highlight=False, soft_wrap=True)
    return 1


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def parse_options(pairs: Sequence[str] | None) -> dict[str, str]:
    """Game options from NAME=VALUE.

    Raises:
        typer.BadParameter: one is not of this form, or named twice.
    """
    options: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise typer.BadParameter(f"{pair!r} is not NAME=VALUE", param_hint="--option")
        if name in options:
            raise typer.BadParameter(f"{name} is given twice", param_hint="--option")
        options[name] = value
    return options


def bad_parameter(message: str, field: str, about: Mapping[str, str]) -> typer.BadParameter:
    """What the rules refuse, in terms of the command's arguments.

    Args:
        field: the field they name: `game`, `seats` or `options.NAME`.
        about: further facts; `known` lists what there is.
    """
    name, _, option = field.partition(".")
    hint = {"game": "GAME", "seats": "--players", "options": f"--option {option}"}.get(name, flag(name))
    known = f"; there is {about['known'].replace(',', ', ')}" if "known" in about else ""
    return typer.BadParameter(message + known, param_hint=hint)


def load_settings(**given: object) -> Settings:
    """Settings from variables, and these values over them.

    Raises:
        typer.BadParameter: a value is not valid.
    """
    try:
        return Settings(**given)  # type: ignore[arg-type]  # texts, as from variables
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        message = first["msg"].removeprefix("Value error, ")
        if not first["loc"]:
            raise typer.BadParameter(message) from error
        name = str(first["loc"][0])
        hint = f"{flag(name)} or {ENVIRONMENT_PREFIX}{name.upper()}"
        raise typer.BadParameter(message, param_hint=hint) from error


def settings_flags(command: Command) -> Command:
    """Gives a command a flag for every setting, and hands it the settings in force as `settings`."""

    @wraps(command)
    def run(**arguments: Any) -> int:
        given = {name: arguments.pop(name) for name in Settings.model_fields}
        settings = load_settings(**{name: value for name, value in given.items() if value is not None})
        return command(settings=settings, **arguments)

    own = [each for each in signature(command, eval_str=True).parameters.values() if each.name != "settings"]
    flags = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=None,
            # The settings judge the text themselves, as they do for variables.
            annotation=Annotated[
                bool | None if field.annotation is bool else str | None,
                typer.Option(help=field.description, rich_help_panel="Settings", show_default=False),
            ],
        )
        for name, field in Settings.model_fields.items()
    ]
    run.__signature__ = signature(command).replace(parameters=[*own, *flags])  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in (*own, *flags)}
    return run
