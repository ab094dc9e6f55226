"""A real store server for the tests that need one."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from services.runtime.embedded import start_store
from services.runtime.processes import Processes
from services.runtime.store import Store, open_store


@pytest.fixture(scope="module")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("store")
    with Processes(logs=folder) as processes:
        yield start_store(processes, folder, durability="development")


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    async with open_store(store_url) as opened:
        yield opened
