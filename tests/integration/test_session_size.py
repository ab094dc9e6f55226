"""What a long game takes in the store at its end."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from loadtests.store import long_game_bytes
from services.runtime.settings import Settings
from tests.integration.conftest import OwnStore

BYTES = 16 * 1024


@pytest.mark.slow
async def test_a_game_of_800_moves_takes_16_kilobytes_at_its_end(settings: Settings, own_store: OwnStore) -> None:
    settings = settings.model_copy(update={"store_url": SecretStr(own_store.url), "feed_entries": 64})
    assert await long_game_bytes(settings, moves=800) <= BYTES
