"""The whole backend on one machine: a store and each service as a process of its own, on free ports."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from services.runtime.embedded import start_store
from services.runtime.processes import Processes
from services.runtime.server import Ready
from services.runtime.settings import Settings

# Each comes after those it calls.
SERVICES = ("engine", "session", "matchmaking")


@dataclass(frozen=True)
class Backend:
    engine: Ready
    session: Ready
    matchmaking: Ready
    settings: Settings
    """What the services were given, addresses included: for commands that look after them."""


def start_backend(processes: Processes, settings: Settings, data: Path) -> Backend:
    """Starts all services, and a store of their own unless the settings name one.

    Args:
        settings: given to each service, with free ports and each other's addresses filled in.
        data: folder of the store's data.

    Raises:
        StoreMissing: there is no store server to start.
        ProcessFailed: a process did not start.
    """
    if settings.store_url is None:
        url = SecretStr(start_store(processes, data, durability=settings.durability))
        settings = settings.model_copy(update={"store_url": url})
    started = start_services(processes, settings, SERVICES)
    addresses = {"engine_addresses": (started["engine"].address,), "session_address": started["session"].address}
    return Backend(**started, settings=settings.model_copy(update=addresses))


def start_services(processes: Processes, settings: Settings, services: Collection[str]) -> dict[str, Ready]:
    """Starts some of the services, each on free ports and with the addresses of those among them that it calls;
    tells where each listens.

    Raises:
        ProcessFailed: a process did not start.
    """
    settings = settings.model_copy(update={"port": 0, "metrics_port": 0})
    started: dict[str, Ready] = {}
    for service in SERVICES:
        if service not in services:
            continue
        ready = started[service] = processes.serve(service, settings)
        if service == "engine":
            settings = settings.model_copy(update={"engine_addresses": (ready.address,)})
        elif service == "session":
            settings = settings.model_copy(update={"session_address": ready.address})
    return started
