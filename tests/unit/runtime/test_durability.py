"""A store that keeps less than the settings promise is found out."""

from pathlib import Path

import pytest

from services.runtime.durability import StorePromisesLess, open_durable_store, replicas_of
from services.runtime.embedded import start_store
from services.runtime.processes import Processes
from services.runtime.settings import Durability, Settings


@pytest.mark.parametrize(
    ("promised", "kept", "refused"),
    [
        ("development", "development", False),
        ("everysec", "development", True),
        ("everysec", "everysec", False),
        ("everysec", "always", False),
        ("always", "everysec", True),
        ("always", "always", False),
        ("replicated", "development", True),
        ("replicated", "everysec", False),
    ],
)
async def test_a_service_refuses_a_store_that_keeps_less(
    tmp_path: Path, promised: Durability, kept: Durability, *, refused: bool
) -> None:
    with Processes(logs=tmp_path) as processes:
        url = start_store(processes, tmp_path, durability=kept)
        settings = Settings(durability=promised)
        if refused:
            with pytest.raises(StorePromisesLess, match=r"appendonly is no|appendfsync is everysec"):
                async with open_durable_store(url, settings):
                    pass
        else:
            async with open_durable_store(url, settings) as store:
                assert store.replicas == replicas_of(settings) == (promised == "replicated")


async def test_a_store_that_is_away_is_checked_later(tmp_path: Path) -> None:
    with Processes(logs=tmp_path) as processes:
        url = start_store(processes, tmp_path, durability="development")
        processes.stop()
        async with open_durable_store(url, Settings()) as store:
            assert store.replicas == 0
