"""What an acknowledged change survives: the store client that waits for it, and the check that the store keeps it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from redis import exceptions

from services.runtime.errors import ServiceError
from services.runtime.logging import get_logger
from services.runtime.settings import Durability, Settings
from services.runtime.store import Store, open_store, store_errors

_CHECK_AGAIN_SECONDS = 1.0

# What of the append-only file each level needs; the empty one needs none.
_FSYNC: dict[Durability, tuple[str, ...]] = {
    "development": (),
    "everysec": ("everysec", "always"),
    "always": ("always",),
    "replicated": ("everysec", "always"),
}

_log = get_logger()


class StorePromisesLess(ValueError):
    """The store's own configuration keeps less than the settings promise."""


def replicas_of(settings: Settings) -> int:
    """How many replicas have to confirm a change."""
    return settings.store_replicas if settings.durability == "replicated" else 0


@asynccontextmanager
async def open_durable_store(url: str, settings: Settings) -> AsyncIterator[Store]:
    """A store client as the level of durability asks for, on a store that keeps what the level promises.

    A store that is away is checked once it is there, and then it is only logged if it does not.

    Raises:
        StorePromisesLess: it is known now that the store keeps less.
    """
    async with open_store(url, replicas=replicas_of(settings)) as store:
        checking: asyncio.Task[None] | None = None
        try:
            if faults := await weaknesses(store, settings.durability):
                raise StorePromisesLess(_told(settings.durability, faults))
        except ServiceError:
            checking = asyncio.create_task(_check_later(store, settings.durability))
        try:
            yield store
        finally:
            if checking is not None:
                checking.cancel()


async def _check_later(store: Store, durability: Durability) -> None:
    while True:
        await asyncio.sleep(_CHECK_AGAIN_SECONDS)
        try:
            faults = await weaknesses(store, durability)
        except ServiceError:
            continue
        if faults:
            _log.error(_told(durability, faults))
        return


def _told(durability: Durability, faults: list[str]) -> str:
    return (
        f"the store keeps less than durability {durability} promises: {', '.join(faults)}; "
        "change its configuration, or set durability to what it keeps"
    )


async def weaknesses(store: Store, durability: Durability) -> list[str]:
    """In which the store's configuration keeps less than a level promises, where it lets its configuration be seen.

    Raises:
        ServiceError: STORE_UNAVAILABLE.
    """
    if not _FSYNC[durability]:
        return []
    found: set[str] = set()
    with store_errors():
        for server in await store.servers.all():
            answers = await server.exchange(
                [("CONFIG", "GET", name) for name in ("appendonly", "appendfsync", "no-appendfsync-on-rewrite")]
            )
            if any(isinstance(answer, exceptions.ResponseError) for answer in answers):
                _log.warning("the store's configuration cannot be seen: its durability is not checked")
                continue
            found.update(_weaknesses(durability, *map(_value, answers)))
    return sorted(found)


def _weaknesses(durability: Durability, append_only: str, fsync: str, not_on_rewrite: str) -> list[str]:
    if append_only != "yes":
        return ["appendonly is no"]
    found = []
    if fsync not in _FSYNC[durability]:
        found.append(f"appendfsync is {fsync}")
    if durability == "always" and not_on_rewrite == "yes":
        found.append("no-appendfsync-on-rewrite is yes")
    return found


def _value(answer: Any) -> str:
    return str(answer[1], "ascii") if len(answer) > 1 else ""
