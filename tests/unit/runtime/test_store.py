"""The store client on a real server: cancelled calls, forgotten scripts, a store that is away."""

import asyncio
import random
import time
from pathlib import Path

import pytest
from redis import exceptions

from services.runtime.embedded import start_store
from services.runtime.errors import Reason, ServiceError
from services.runtime.processes import Processes
from services.runtime.store import Script, Store, open_store

ECHO = Script("return {KEYS[1], ARGV[1]}")
SEED = 20261130


async def test_a_cancelled_call_never_leaves_its_answer_to_another(store: Store) -> None:
    """Calls are cancelled at every point of their way, and every answer is still that of its own key."""
    chance = random.Random(SEED)
    keys = [f"key:{number}" for number in range(200)]
    for key in keys:
        await store.call("SET", key, f"value of {key}")

    async def get(key: str) -> None:
        assert await store.call("GET", key) == f"value of {key}".encode()

    async def run(key: str) -> None:
        assert await store.run(ECHO, [key], [f"for {key}"]) == [key.encode(), f"for {key}".encode()]

    cancelled = 0
    for _ in range(40):
        tasks = [asyncio.create_task(chance.choice((get, run))(chance.choice(keys))) for _ in range(100)]
        for task in tasks:
            if chance.random() < 0.5:
                asyncio.get_running_loop().call_later(chance.random() * 0.02, task.cancel)
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            cancelled += isinstance(outcome, asyncio.CancelledError)
            assert outcome is None or isinstance(outcome, asyncio.CancelledError), f"seed {SEED}"

    assert cancelled > 100
    await asyncio.gather(*(get(key) for key in keys))


async def test_a_cancelled_write_is_not_taken_back(store: Store) -> None:
    writing = asyncio.create_task(store.call("SET", "cancelled", "1"))
    await asyncio.sleep(0)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing

    while await store.call("GET", "cancelled") is None:
        await asyncio.sleep(0)


async def test_closing_waits_for_what_cancelled_callers_left(store_url: str) -> None:
    async with open_store(store_url) as store:
        writing = asyncio.create_task(store.call("SET", "left", "1"))
        await asyncio.sleep(0)
        writing.cancel()
    async with open_store(store_url) as store:
        assert await store.call("GET", "left") == b"1"


async def test_a_script_that_the_store_forgot_is_loaded_again(store: Store) -> None:
    assert await store.run(ECHO, ["a"], ["b"]) == [b"a", b"b"]
    assert await store.call("SCRIPT", "EXISTS", ECHO.sha1) == [1]
    await store.call("SCRIPT", "FLUSH")
    assert await store.call("SCRIPT", "EXISTS", ECHO.sha1) == [0]

    assert await store.run(ECHO, ["a"], ["b"]) == [b"a", b"b"]
    assert await store.call("SCRIPT", "EXISTS", ECHO.sha1) == [1]


async def test_a_wrong_command_is_our_fault_and_not_the_stores(store: Store) -> None:
    with pytest.raises(exceptions.ResponseError):
        await store.run(Script("return redis.call('NO SUCH COMMAND')"), ["a"])


@pytest.mark.parametrize("reply", ["LOADING it", "OOM full", "READONLY replica", "MISCONF disk", "CLUSTERDOWN"])
async def test_a_store_that_says_it_cannot_serve_is_unavailable(store: Store, reply: str) -> None:
    with pytest.raises(ServiceError) as refused:
        await store.run(Script(f"return redis.error_reply('{reply}')"), ["a"])
    assert refused.value.reason is Reason.STORE_UNAVAILABLE


async def test_a_database_that_the_store_does_not_have_is_unavailable(store_url: str) -> None:
    async with open_store(f"{store_url.removesuffix('/0')}/99999") as store:
        with pytest.raises(ServiceError) as error:
            await store.call("GET", "here")
    assert error.value.reason is Reason.STORE_UNAVAILABLE


async def test_a_store_that_is_away_is_told_soon_and_found_again(tmp_path: Path) -> None:
    with Processes(logs=tmp_path) as processes:
        url = start_store(processes, tmp_path)
        async with open_store(url) as store:
            await store.call("SET", "kept", "1")
            processes.stop()

            asked = time.monotonic()
            with pytest.raises(ServiceError) as refused:
                await store.call("GET", "kept")
            with pytest.raises(ServiceError):
                await store.check()
            assert time.monotonic() - asked < 3
            assert refused.value.reason is Reason.STORE_UNAVAILABLE
            assert refused.value.retry_after is not None

            assert start_store(processes, tmp_path) == url
            assert await store.call("GET", "kept") == b"1"
            await store.check()


async def test_many_callers_share_a_bounded_number_of_connections(store: Store) -> None:
    await asyncio.gather(*(store.call("PING") for _ in range(500)))

    clients = await store.call("CLIENT", "LIST")
    assert len(clients if isinstance(clients, list) else clients.splitlines()) <= 40
