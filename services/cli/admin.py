"""What an operator does to one game: look at it, check it, rebuild it, end it, export it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from services.cli import records
from services.cli.flags import failed
from services.runtime.durability import replicas_of
from services.runtime.errors import Reason, ServiceError
from services.runtime.logging import configure_logging
from services.runtime.settings import SettingMissing, Settings, required
from services.runtime.store import open_store
from services.session import inspection
from services.session.engines import open_engines
from services.session.inspection import CannotMend, Inspection
from services.session.keys import find_game
from services.session.log import COMINGS, OUTCOMES
from services.session.store import games_of

FAULTS = 3
"""Exit status: the game was found, and something is wrong with it."""


@dataclass(frozen=True)
class Wish:
    """What is to be done after the look."""

    rebuild: bool = False
    end: str | None = None
    export: Path | None = None
    secrets: bool = False


def admin_game(game_id: str, wish: Wish, settings: Settings) -> int:
    """Gives the exit status: 0 if nothing is wrong with the game, or no longer."""
    configure_logging("error", "admin")
    try:
        return asyncio.run(_admin_game(game_id, wish, settings))
    except ServiceError as error:
        where = {Reason.STORE_UNAVAILABLE: " (store_url)", Reason.ENGINE_UNAVAILABLE: " (engine_addresses)"}
        return failed(f"{error}{where.get(error.reason, '')}")
    except CannotMend as error:
        return failed(f"not done to {game_id}: {error}")
    except (OSError, SettingMissing, ValueError) as error:
        return failed(str(error))


async def _admin_game(game_id: str, wish: Wish, settings: Settings) -> int:
    game = find_game(game_id)
    url = required("store_url", settings.store_url).get_secret_value()
    addresses = required("engine_addresses", settings.engine_addresses)
    console = Console(highlight=False)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(url, replicas=replicas_of(settings)))
        engines = await stack.enter_async_context(open_engines(addresses, settings))
        games = games_of(store, settings)
        found = await inspection.look(store, games, game)
        _show(found, console)
        await inspection.check(engines, games, found)
        if wish.secrets:
            _show_secrets(found, console)
        _show_faults(found, console)
        if wish.export is not None:
            record = inspection.record_of(found, secrets=wish.secrets)
            records.write(wish.export, record)
            console.print(f"exported to {wish.export}", markup=False, soft_wrap=True)
        if wish.rebuild:
            await inspection.rebuild(games, found)
            console.print(f"rebuilt from its log at version {len(found.log or ())}")
        if wish.end is not None:
            await inspection.end(games, found, wish.end)
            console.print("ended")
        if wish.rebuild or wish.end is not None:
            found = await inspection.look(store, games, game)
            await inspection.check(engines, games, found)
            _show_faults(found, console)
        return FAULTS if found.faults else 0


def _show(found: Inspection, console: Console) -> None:
    keys = Table("key", "type", "items", "bytes", "forgotten in", box=None)
    for key in found.keys:
        left = "never" if key.seconds_left is None else f"{key.seconds_left} s"
        keys.add_row(key.name, key.kind, str(key.items), str(key.size), left)
    keys.add_row("together", "", "", str(sum(key.size for key in found.keys)), "")
    console.print(keys)
    sizes = ", ".join(f"{name} {size}" for name, size in sorted(found.fields.items()) if " " not in name)
    console.print(f"fields in bytes: {sizes}", markup=False, soft_wrap=True)
    standing = found.standing
    if standing is not None:
        console.print(
            f"version {standing.version}, {_inputs(found)} in the log, place {standing.cursor.position}, "
            f"feed {_span(found)}, {standing.meta.all_seats} seats, "
            + (f"closed: {standing.meta.closed}" if standing.meta.closed else "over" if found.over else "in play"),
            markup=False,
            soft_wrap=True,
        )


def _inputs(found: Inspection) -> str:
    return "what cannot be read" if found.log is None else f"{len(found.log)} inputs"


def _span(found: Inspection) -> str:
    return f"{found.feed[0][0]} to {found.feed[-1][0]}" if found.feed else "empty"


def _show_faults(found: Inspection, console: Console) -> None:
    for fault in found.faults:
        console.print(f"wrong: {fault}", markup=False, soft_wrap=True)
    if not found.faults:
        console.print("nothing is wrong: the log makes this table, and the feed is of its history")


def _show_secrets(found: Inspection, console: Console) -> None:
    if found.replayed is not None:
        console.print(f"secret of its chance: {found.replayed.reveal.secret.hex()}")
        for seat, contribution in enumerate(found.replayed.reveal.contributions):
            console.print(f"contribution of seat {seat}: {contribution.hex()}")
    for version, logged in enumerate(found.log or (), 1):
        if logged.kind in OUTCOMES:
            what = f"{OUTCOMES[logged.kind]} to {logged.decision}: {', '.join(map(str, logged.picks)) or 'nothing'}"
        else:
            what = COMINGS.get(logged.kind) or f"orders {dict(logged.orders)}"
        console.print(f"input {version}, seat {logged.seat}: {what}", markup=False, soft_wrap=True)
