"""Log lines are JSON, carry the call's ids and never a secret."""

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from services.runtime.logging import bind_call, configure_logging, get_logger, mask_secrets


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def test_fields_that_are_secret_by_name_are_masked_at_any_depth() -> None:
    event = {
        "seat_token": "a",
        "seat_tokens": ["a", "b"],
        "state": b"c",
        "nonce": "d",
        "server_secret": "e",
        "store_url": "redis://:f@host",
        "ticket_id": "g",
        "answer": {"picks": ["h"], "seat": 2},
        "game_id": "b17-1",
        "state_bytes": 3900,
    }

    assert mask_secrets(None, "info", event) == {
        "seat_token": "***",
        "seat_tokens": "***",
        "state": "***",
        "nonce": "***",
        "server_secret": "***",
        "store_url": "***",
        "ticket_id": "***",
        "answer": {"picks": "***", "seat": 2},
        "game_id": "b17-1",
        "state_bytes": 3900,
    }


def test_lines_are_json_with_the_calls_ids_and_without_local_variables(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging("info", "session")
    bind_call(game_id="b17-1")
    try:
        held = "-".join(("never", "shown"))
        assert held
        raise LookupError("no card left")
    except LookupError:
        get_logger().exception("failed")
    logging.getLogger("library").warning("from %s", "outside")
    get_logger().debug("too small")

    ours, foreign = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert (ours["event"], ours["level"], ours["service"], ours["game_id"]) == (
        "failed",
        "error",
        "session",
        "b17-1",
    )
    assert "LookupError: no card left" in ours["exception"]
    assert "never-shown" not in ours["exception"]
    assert (foreign["event"], foreign["level"], foreign["service"]) == ("from outside", "warning", "session")


def test_long_texts_are_cut_at_any_depth(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "session")
    long = "x" * 1_000_000
    try:
        raise LookupError(long)
    except LookupError:
        get_logger().exception(long, field=long, faults=[{"of": long}])

    written = capsys.readouterr().err
    assert len(written) < 20_000
    line = json.loads(written)
    for cut in (line["event"], line["field"], line["faults"][0]["of"]):
        assert (len(cut), cut[-26:]) == (600, "xxx... (1000000 characters)"[-26:])
