"""`roundtable config`: settings from variables and flags, secrets masked."""

from base64 import urlsafe_b64encode
from hashlib import blake2b

import pytest

from services.cli.main import main
from services.runtime.settings import Settings


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"ROUNDTABLE_{name.upper()}", raising=False)


def test_every_setting_is_printed_with_its_meaning(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("=")[0] for line in lines] == [
        f"ROUNDTABLE_{name.upper()}" for name in Settings.model_fields
    ]
    assert any(line.startswith("ROUNDTABLE_HOST=127.0.0.1 ") and "listens on" in line for line in lines)


def test_flags_override_variables(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROUNDTABLE_PORT", "7001")
    monkeypatch.setenv("ROUNDTABLE_METRICS_PORT", "7002")

    assert main(["config", "--port", "7003", "--no-reflection", "--engine-addresses", "a:1, b:2"]) == 0

    words = capsys.readouterr().out.split()
    assert "ROUNDTABLE_PORT=7003" in words
    assert "ROUNDTABLE_METRICS_PORT=7002" in words
    assert "ROUNDTABLE_REFLECTION=False" in words
    assert "ROUNDTABLE_ENGINE_ADDRESSES=a:1,b:2" in words


def test_secrets_are_masked(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROUNDTABLE_STORE_URL", "rediss://merlin:nimue@store:6379/3?password=nimue")

    assert main(["config"]) == 0

    out = capsys.readouterr().out
    assert "ROUNDTABLE_STORE_URL=rediss://***@store:6379/3?***" in out
    assert "nimue" not in out
    assert "merlin" not in out


@pytest.mark.parametrize("url", ["redis://:nim/ue@store", "redis://:nim#ue@store", "merlin:nimue@store", "nimue"])
def test_a_malformed_address_of_a_store_is_refused_unseen(
    url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUNDTABLE_STORE_URL", url)

    assert main(["config"]) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("roundtable: Invalid value for --store-url or ROUNDTABLE_STORE_URL: it")
    assert err.count("\n") == 1
    assert "nim" not in err


def test_an_empty_address_of_a_store_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROUNDTABLE_STORE_URL", "")
    assert Settings().store_url is None


def test_keys_are_not_shown_at_all(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROUNDTABLE_PLAYER_KEY", "the sword in the stone")

    assert main(["config"]) == 0

    out = capsys.readouterr().out
    assert "ROUNDTABLE_PLAYER_KEY=*** " in out
    assert "sword" not in out


def test_a_players_token_is_made_with_the_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["token", "alice"]) == 1
    assert "player_key is not set" in capsys.readouterr().err
    monkeypatch.setenv("ROUNDTABLE_PLAYER_KEY", "the sword in the stone")

    assert main(["token", "alice"]) == 0

    digest = blake2b(b"alice", key=blake2b(b"the sword in the stone", digest_size=32).digest(), digest_size=32).digest()
    assert capsys.readouterr().out == urlsafe_b64encode(digest).decode().rstrip("=") + "\n"


def test_the_operators_token_is_masked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "--operator-token", "avalon-avalon-avalon"]) == 0

    out = capsys.readouterr().out
    assert "ROUNDTABLE_OPERATOR_TOKEN=*** " in out
    assert "avalon" not in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--ready-fd", "99"], "--ready-fd or ROUNDTABLE_READY_FD: no such file descriptor is open"),
        (["--player-key", "short"], "--player-key or ROUNDTABLE_PLAYER_KEY"),
        (["--port", "70000"], "--port or ROUNDTABLE_PORT: Input should be less than or equal to 65535"),
        (["--log-level", "loud"], "--log-level or ROUNDTABLE_LOG_LEVEL"),
        (["--host", "0.0.0.0"], "host 0.0.0.0 is not a loopback address"),
        (["--drain-seconds", "60"], "--drain-seconds or ROUNDTABLE_DRAIN_SECONDS"),
    ],
)
def test_bad_settings_are_told_in_one_line(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["config", *arguments])

    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1
