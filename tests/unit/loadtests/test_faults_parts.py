"""The proxy, the search for secrets, and the pauses of fault runs."""

from __future__ import annotations

import asyncio
from base64 import b64encode, urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from loadtests.faults.__main__ import Outcome, _report
from loadtests.faults.history import OK, Line, Opened, Seated, Seen, Try
from loadtests.faults.injection import Injected, inject
from loadtests.faults.leaks import find_leaks
from loadtests.faults.pauses import longest_by_kind, pauses, too_long
from loadtests.faults.proxy import Proxy
from loadtests.faults.stage import Victim

SECRET = bytes(range(200, 232))
TOKEN = b"Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmE"


class Echo:
    def __init__(self) -> None:
        self.heard = b""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            self.heard += data
            writer.write(data)
        writer.close()


@asynccontextmanager
async def proxied() -> AsyncIterator[tuple[Echo, Proxy]]:
    echo, proxy = Echo(), Proxy()
    server = await asyncio.start_server(echo.serve, "127.0.0.1", 0)
    await proxy.open()
    proxy.upstream = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield echo, proxy
    finally:
        await proxy.close()
        server.close()


async def rest_of(reader: asyncio.StreamReader) -> bytes:
    """What comes until the connection ends, in whichever way."""
    try:
        return await reader.read()
    except ConnectionResetError:
        return b""


async def test_a_proxy_hands_on_both_ways() -> None:
    async with proxied() as (_, proxy):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"move")
        assert await reader.readexactly(4) == b"move"


async def test_a_proxy_loses_answers_but_no_requests_and_then_cuts_the_connection() -> None:
    async with proxied() as (echo, proxy):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        untouched, _ = await asyncio.open_connection("127.0.0.1", proxy.port)
        dropping = asyncio.create_task(proxy.drop(0.1))
        await asyncio.sleep(0)
        writer.write(b"move")
        assert await rest_of(reader) == b""
        await dropping
        assert echo.heard == b"move"
        assert not untouched.at_eof()


async def test_a_proxy_holds_answers_back() -> None:
    async with proxied() as (_, proxy):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        delaying = asyncio.create_task(proxy.delay(0.1))
        await asyncio.sleep(0)
        writer.write(b"move")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.readexactly(4), 0.05)
        await delaying
        assert await reader.readexactly(4) == b"move"


async def test_a_proxy_cuts_connections_and_refuses_others_while_there_is_no_server() -> None:
    async with proxied() as (_, proxy):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"move")
        await reader.readexactly(4)
        proxy.cut(Random(1))
        assert await rest_of(reader) == b""
        proxy.upstream = None
        reader, _ = await asyncio.open_connection("127.0.0.1", proxy.port)
        assert await rest_of(reader) == b""


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        SECRET.hex().encode(),
        b64encode(SECRET),
        urlsafe_b64encode(SECRET),
        repr(SECRET).encode(),
        b'{"address": "' + TOKEN + b'"}',
        b"ticket:m3-" + TOKEN + b"tail",
    ],
)
def test_a_secret_is_found_however_it_is_written(tmp_path: Path, written: bytes) -> None:
    log = tmp_path / "session.log"
    log.write_bytes(b"one line\nanother with " + written + b" in it\n")
    (found,) = find_leaks([SECRET, TOKEN], [log])
    assert found == f"{log}: secrets at 1 places, the first in line 2"


def test_what_is_no_secret_is_not_found(tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    log.write_bytes(TOKEN[:-1] + b"\n" + SECRET[1:] + b"\n" + SECRET.hex().encode()[:-1])
    assert list(find_leaks([SECRET, TOKEN], [log])) == []


def test_a_pause_lasts_from_the_first_attempt_to_the_answer_or_from_one_feed_to_another() -> None:
    histories: dict[str, list[Line]] = {
        "ada": [
            Seated("g", 0),
            Try("Choose", "r", ("1", "dig"), 1.0, 2.0, "UNKNOWN"),
            Try("Choose", "r", ("1", "dig"), 3.0, 4.0, OK, 1),
            Seen(1, 4.5, "update", "c1", 1),
        ],
        "bob": [Seated("g", 1), Opened(2, 0.0, None), Seen(2, 7.0, "update", "c1", 1)],
    }
    found = sorted(pauses(histories))
    assert found == [(1.0, 4.0), (4.0, 4.5), (4.0, 7.0)]
    faults = [Injected("killed", 0.5, 3.5), Injected("cut", 3.4, 9.0)]
    assert longest_by_kind(found, faults) == {"killed": 3.0, "cut": 3.0}
    assert longest_by_kind(found, []) == {"no fault": 3.0}


def test_a_pause_while_another_node_takes_over_counts_for_that() -> None:
    faults = [
        Injected("primary killed", 1.0, 3.0),
        Injected("session killed", 2.0, 8.0),
        Injected("primary hands over", 9.0, 9.5),
    ]
    assert longest_by_kind([(0.0, 7.0)], faults) == {"primary killed": 7.0}
    assert longest_by_kind([(3.0, 7.0)], faults) == {"session killed": 4.0}
    assert longest_by_kind([(2.5, 9.25)], faults[::-1]) == {"primary killed": 6.75}


def test_clients_wait_five_seconds_at_most_and_fifteen_for_another_primary() -> None:
    longest = {"primary killed": 15.0, "primary hands over": 15.5, "session killed": 5.25, "slots moved": 5.0}
    assert list(too_long("cluster", longest)) == [
        "cluster: primary hands over: a pause of 15.50 s; at most 15 s are allowed",
        "cluster: session killed: a pause of 5.25 s; at most 5 s are allowed",
    ]
    assert list(too_long("single", {"store killed": 5.0})) == []
    assert list(too_long("single", {"primary killed": 6.0})) == [
        "single: primary killed: a pause of 6.00 s; at most 5 s are allowed"
    ]


@pytest.mark.parametrize(("seconds", "minutes", "passed"), [(5.0, 1.0, True), (5.5, 1.0, False), (5.5, 0.9, True)])
def test_a_pause_that_is_too_long_is_told_and_fails_runs_of_a_minute(
    seconds: float, minutes: float, passed: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    faults = [Injected("session killed", 0.0, seconds)] * 60
    outcome = Outcome(moves=10_000, games=1, attempts=1, faults=faults, pauses=[(0.0, seconds)])
    assert _report({"single": outcome}, minutes=minutes) is passed
    told = "single: session killed: a pause of 5.50 s; at most 5 s are allowed"
    assert (told in capsys.readouterr().out) is (seconds > 5)


async def test_of_a_group_one_is_in_trouble_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loadtests.faults.injection._PERIOD_SECONDS", 0.01)
    running: set[str] = set()

    def victim(name: str, group: str) -> Victim:
        async def trouble(random: Random) -> None:
            assert group not in running
            running.add(group)
            await asyncio.sleep(0.03)
            running.discard(group)

        return Victim(name, group, {f"{group} killed": trouble})

    victims = [victim(name, name.partition("-")[0]) for name in ("session-1", "session-2", "store-1", "store-2")]
    told: list[str] = []
    injected = await inject(victims, 0.3, Random(1), told.append)
    assert len(injected) == len(told) > 10
    assert {fault.kind for fault in injected} == {"session killed", "store killed"}
    assert not running
