"""Services as this process, or as several processes under it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

import typer
from rich.console import Console

from services.cli.flags import failed, flag
from services.runtime.backend import SERVICES, start_backend, start_services
from services.runtime.durability import StorePromisesLess
from services.runtime.embedded import StoreMissing
from services.runtime.errors import BindError
from services.runtime.processes import Processes, ProcessFailed, termination_interrupts
from services.runtime.server import Ready, run
from services.runtime.settings import SettingMissing, Settings

ALL = "all"
DATA = Path(".data") / "store"
ENVIRONMENT = DATA / "backend.env"
"""The settings of what `serve all` runs, for the shell of whoever looks after it; secrets are in clear."""


def serve(services: Sequence[str], settings: Settings) -> int:
    """Runs the services until SIGTERM or SIGINT; gives the exit status.

    Raises:
        typer.BadParameter: no such service, or settings that do not serve.
    """
    for service in services:
        if service not in (*SERVICES, ALL):
            raise typer.BadParameter(
                f"no such service: {service}; there is {', '.join((*SERVICES, ALL))}", param_hint="SERVICE"
            )
    try:
        if len(set(services)) == 1 and ALL not in services:
            _serve_here(services[0], settings)
        else:
            _serve_below(services, settings)
    except SettingMissing as error:
        raise typer.BadParameter(str(error)) from error
    except (BindError, ProcessFailed, StoreMissing, StorePromisesLess) as error:
        return failed(str(error))
    return 0


def _serve_here(service: str, settings: Settings) -> None:
    module = import_module(f"services.{service}.main")
    run(service, module.FULL_NAME, settings, module.compose)


def _serve_below(services: Sequence[str], settings: Settings) -> None:
    for name in ("port", "metrics_port", "ready_fd"):
        if getattr(settings, name):
            raise typer.BadParameter(
                "only for one service; several get free ports, which are printed", param_hint=flag(name)
            )
    with termination_interrupts():
        try:
            with ExitStack() as stack, Processes() as processes:
                if ALL in services:
                    backend = start_backend(processes, settings, DATA)
                    started = [backend.engine, backend.session, backend.matchmaking]
                    _write_environment(backend.settings)
                    stack.callback(ENVIRONMENT.unlink, missing_ok=True)
                else:
                    started = list(start_services(processes, settings, services).values())
                _announce(started)
                processes.watch()
        except KeyboardInterrupt:
            return


def _write_environment(settings: Settings) -> None:
    ENVIRONMENT.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    ENVIRONMENT.touch(mode=0o600)
    ENVIRONMENT.write_text(
        "".join(f"{name}={shlex.quote(value)}\n" for name, value in settings.environment().items()), encoding="utf-8"
    )


def _announce(started: Sequence[Ready]) -> None:
    console = Console(highlight=False)
    for ready in started:
        console.print(f"{ready.service} {ready.address}, metrics http://{ready.metrics_address}", soft_wrap=True)
