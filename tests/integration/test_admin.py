"""`roundtable admin game`: one game in the store, sound, broken and mended."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from redis import Redis

from engine.catalogue import GAMES
from engine.core.records import verify
from roundtable.session.v1 import session_pb2
from services.runtime.errors import Reason
from services.runtime.settings import Settings
from services.session.keys import GameKeys, find_game
from tests.integration.commands import PATIENCE_SECONDS, ROUNDTABLE
from tests.integration.seats import SECONDS, Session, refused

SEED = 20261205


@dataclass
class Result:
    status: int
    out: str
    err: str


class Admin:
    """The command, on the shared store and engine."""

    def __init__(self, settings: Settings) -> None:
        self._environment = {**os.environ, **settings.environment(), "COLUMNS": "200"}

    async def __call__(self, game_id: str, *flags: str, **variables: str) -> Result:
        ended = await asyncio.to_thread(
            subprocess.run,
            [str(ROUNDTABLE), "admin", "game", game_id, *flags],
            env={**self._environment, **variables},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return Result(ended.returncode, ended.stdout, ended.stderr)


@pytest.fixture
def admin(settings: Settings) -> Admin:
    return Admin(settings)


async def test_a_sound_game_is_shown_without_its_secrets(session: Session, admin: Admin) -> None:
    seats = await session.create(seed=7)
    await seats.play(session, Random(SEED), moves=20)
    game = find_game(seats.game_id)

    shown = await admin(seats.game_id)
    told = await admin(seats.game_id, "--secrets")

    assert (shown.status, shown.err) == (0, "")
    for key in (game.game, game.log, game.feed):
        assert f"{key} " in shown.out
    assert "version 20, 20 inputs in the log, place 21, feed 1 to 21, 5 seats, in play" in shown.out
    assert "nothing is wrong" in shown.out
    assert "secret" not in shown.out
    assert "input 1, seat" not in shown.out
    assert told.status == 0
    assert "secret of its chance: " in told.out
    assert "input 20, seat" in told.out


def change_field(store: Redis, game: GameKeys, name: str, value: bytes | str | int) -> None:
    store.hset(game.game, name, value)


async def test_a_game_whose_table_is_garbled_is_rebuilt_from_its_log(
    session: Session, admin: Admin, store: Redis
) -> None:
    seats = await session.create()
    await seats.play(session, Random(SEED), moves=20)
    game = find_game(seats.game_id)
    views = [await session.view(seats.game_id, token) for token in seats.tokens]
    cursor = views[0].cursor
    watching = session.watch(seats.game_id, seats.tokens[0], cursor)
    state: Any = store.hget(game.game, "state")
    change_field(store, game, "state", state[:-9] + b"x" + state[-8:])
    with refused(Reason.TABLE_BROKEN):
        await session.view(seats.game_id, None)

    found = await admin(seats.game_id)
    assert found.status == 3
    assert "wrong: the table cannot be read: STATE_GARBLED" in found.out
    mended = await admin(seats.game_id, "--rebuild")

    assert mended.status == 0
    assert "rebuilt from its log at version 20" in mended.out
    assert store.hget(game.game, "state") == state
    for before, token in zip(views, seats.tokens, strict=True):
        after = await session.view(seats.game_id, token)
        assert (after.view, after.update) == (before.view, before.update)
    # Whoever watches is told how the game stands, and it goes on to its end.
    assert (await anext(watching)).update == views[0].update
    await seats.play(session, Random(SEED))
    assert (await admin(seats.game_id)).status == 0


async def test_a_game_that_is_ahead_of_its_log_goes_back_to_it(session: Session, admin: Admin, store: Redis) -> None:
    seats = await session.create()
    await seats.play(session, Random(SEED), moves=20)
    game = find_game(seats.game_id)
    store.rpop(game.log)

    found = await admin(seats.game_id)
    assert found.status == 3
    assert "wrong: the game is at version 20, and its log has 19 inputs" in found.out
    assert "wrong: the table is not what the log makes" in found.out
    assert "wrong: entry 21 of the feed is not of this history" in found.out

    assert (await admin(seats.game_id, "--rebuild")).status == 0
    assert (await session.view(seats.game_id, None)).update.version == 19
    snapshot = await anext(session.watch(seats.game_id, None))
    assert snapshot.snapshot.update.version == 19


async def test_a_broken_feed_is_begun_anew(session: Session, admin: Admin, store: Redis) -> None:
    seats = await session.create()
    await seats.play(session, Random(SEED), moves=5)
    old = (await session.view(seats.game_id, None)).cursor
    await seats.play(session, Random(SEED), moves=5)
    game = find_game(seats.game_id)
    store.xadd(game.feed, {"e": b"garbled"}, id="99-0")

    found = await admin(seats.game_id)
    assert "wrong: the feed cannot be read" in found.out
    assert (await admin(seats.game_id, "--rebuild")).status == 0

    fallen_off = (await anext(session.watch(seats.game_id, None, old))).snapshot
    assert (fallen_off.update.version, fallen_off.reason) == (10, session_pb2.SNAPSHOT_REASON_GAP)
    await seats.play(session, Random(SEED))


async def test_a_log_that_is_no_game_is_told_and_not_rebuilt_from(session: Session, admin: Admin, store: Redis) -> None:
    seats = await session.create()
    await seats.play(session, Random(SEED), moves=20)
    game = find_game(seats.game_id)
    impossible: Any = msgspec.msgpack.encode([1 * 16 + 0, 3, 999])
    store.lset(game.log, 7, impossible)
    before = store.hgetall(game.game)

    found = await admin(seats.game_id, "--rebuild")

    assert found.status == 1
    assert "wrong: the log cannot be played again: LOG_BROKEN: input 8" in found.out
    assert "not done" in found.err
    assert store.hgetall(game.game) == before


async def test_a_log_that_cannot_be_read_is_told_where(session: Session, admin: Admin, store: Redis) -> None:
    seats = await session.create()
    await seats.play(session, Random(SEED), moves=8)
    unreadable: Any = b"xx"
    store.lset(find_game(seats.game_id).log, 3, unreadable)

    with refused(Reason.LOG_BROKEN, {"version": "4"}):
        await session.stub.GetRecord(
            session_pb2.GetRecordRequest(game_id=seats.game_id, seat_token=seats.tokens[0]), timeout=SECONDS
        )
    found = await admin(seats.game_id, "--rebuild")

    assert found.status == 1
    assert found.out.count("wrong: ") == 1
    assert "wrong: the log cannot be read: input 4 cannot be read" in found.out
    assert "not done" in found.err
    assert "moved on" not in found.err


async def test_a_game_is_ended_for_everybody(session: Session, admin: Admin) -> None:
    seats = await session.create()
    await seats.play(session, Random(SEED), moves=5)
    watching = asyncio.create_task(session.watch_to_end(seats.game_id, seats.tokens[2]))
    decision = await seats.decision(session, (await session.view(seats.game_id, None)).update.asked[0])

    ended = await admin(seats.game_id, "--end", "the tournament was called off")

    assert ended.status == 0
    feed = await asyncio.wait_for(watching, SECONDS)
    assert feed[-1].closed.reason == "the tournament was called off"
    with refused(Reason.GAME_OVER):
        await session.choose(seats.choice(decision.seat, decision))
    again = await admin(seats.game_id, "--end", "once more")
    assert (again.status, again.err.strip()) == (1, f"roundtable: not done to {seats.game_id}: it is over already")
    assert "closed: the tournament was called off" in again.out


async def test_a_record_is_exported_of_finished_games_and_of_others_only_on_demand(
    session: Session, admin: Admin, tmp_path: Path
) -> None:
    seats = await session.create()
    await seats.play(session, Random(SEED), moves=10)
    file = tmp_path / "record.json"

    kept = await admin(seats.game_id, "--export", str(file))
    assert (kept.status, file.exists()) == (1, False)
    assert "it goes on, so that its record has secrets" in kept.err
    assert (await admin(seats.game_id, "--export", str(file), "--secrets")).status == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(json.loads(file.read_text())["inputs"]) == 10

    await seats.play(session, Random(SEED))
    assert (await admin(seats.game_id, "--export", str(file))).status == 0
    request = session_pb2.GetRecordRequest(game_id=seats.game_id)
    expected = (await session.stub.GetRecord(request, timeout=SECONDS)).record
    found = verify(GAMES, file.read_bytes()).record
    assert (found.game_id, found.seats, found.options) == (seats.game_id, 5, dict(expected.options))
    assert [each.digest for each in found.inputs] == [each.digest.hex() for each in expected.inputs]
    assert found.outcome is not None
    assert found.outcome.ending == expected.outcome.ending


@pytest.mark.parametrize(
    ("game_id", "flags", "variables", "status", "said"),
    [
        ("nonsense", (), {}, 1, "GAME_NOT_FOUND"),
        ("b7-" + "a" * 24, (), {}, 1, "GAME_NOT_FOUND"),
        ("b7-" + "a" * 24, (), {"ROUNDTABLE_STORE_URL": "redis://127.0.0.1:1"}, 1, "STORE_UNAVAILABLE"),
        ("b7-" + "a" * 24, (), {"ROUNDTABLE_STORE_URL": ""}, 1, "store_url is not set"),
        ("b7-" + "a" * 24, (), {"ROUNDTABLE_ENGINE_ADDRESSES": ""}, 1, "engine_addresses is not set"),
        ("b7-" + "a" * 24, ("--end", ""), {}, 2, "--end"),
        ("b7-" + "a" * 24, ("--end", "x" * 121), {}, 2, "--end"),
    ],
)
async def test_what_cannot_be_done_is_said(
    admin: Admin, game_id: str, flags: tuple[str, ...], variables: dict[str, str], status: int, said: str
) -> None:
    result = await admin(game_id, *flags, **variables)
    assert (result.status, result.out) == (status, "")
    assert said in result.err
    assert "Traceback" not in result.err


async def test_without_an_engine_the_keys_are_shown_all_the_same(session: Session, admin: Admin) -> None:
    seats = await session.create()
    result = await admin(seats.game_id, ROUNDTABLE_ENGINE_ADDRESSES="127.0.0.1:1")
    assert result.status == 1
    assert find_game(seats.game_id).log not in result.out  # it has no inputs
    assert find_game(seats.game_id).feed in result.out
    assert "ENGINE_UNAVAILABLE" in result.err
