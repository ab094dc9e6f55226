"""The whole backend on one machine: a store and each service as a process of its own, on free ports."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from services.runtime.embedded import start_store
from services.runtime.processes import Processes
from services.runtime.server import Ready
from services.runtime.settings import Settings


@dataclass(frozen=True)
class Backend:
    engine: Ready
    session: Ready
    matchmaking: Ready


def start_backend(processes: Processes, settings: Settings, data: Path, *, durable: bool = True) -> Backend:
    """Starts the services, and a store of their own unless the settings name one.

    Args:
        settings: given to each service, with free ports and each other's addresses filled in.
        data: folder of the store's data.
        durable: as for `start_store`.

    Raises:
        StoreMissing: there is no store server to start.
        ProcessFailed: a process did not start.
    """
    url = settings.store_url or SecretStr(start_store(processes, data, durable=durable))
    settings = settings.model_copy(update={"store_url": url, "port": 0, "metrics_port": 0})
    engine = processes.serve("engine", settings)
    settings = settings.model_copy(update={"engine_addresses": (engine.address,)})
    session = processes.serve("session", settings)
    settings = settings.model_copy(update={"session_address": session.address})
    return Backend(engine, session, processes.serve("matchmaking", settings))
