"""Settings: where they come from, what they forbid, what they show."""

import os

import pytest
from pydantic import SecretStr, ValidationError

from services.runtime.settings import SettingMissing, Settings, describe, required


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "localhost", "::1"])
def test_plain_text_is_bound_to_loopback(host: str) -> None:
    assert Settings(host=host).host == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.9", "example.org"])
def test_plain_text_goes_beyond_loopback_only_if_told(host: str) -> None:
    with pytest.raises(ValidationError, match="ROUNDTABLE_INSECURE_BIND_ANY"):
        Settings(host=host)
    assert Settings(host=host, insecure_bind_any=True).host == host


def test_the_environment_is_read_and_flags_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROUNDTABLE_PORT", "7001")
    monkeypatch.setenv("ROUNDTABLE_ENGINE_ADDRESSES", "127.0.0.1:7101, 127.0.0.1:7102")

    assert Settings().port == 7001
    assert Settings(port=7002).port == 7002
    assert Settings().engine_addresses == ("127.0.0.1:7101", "127.0.0.1:7102")


def test_a_child_process_gets_the_same_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(
        port=7001,
        store_url=SecretStr("redis://:hidden@127.0.0.1:6390/0"),
        engine_addresses=("127.0.0.1:7101", "127.0.0.1:7102"),
        allow_seeds=True,
        reflection=False,
        drain_seconds=0.5,
    )
    for name, value in settings.environment().items():
        monkeypatch.setenv(name, value)

    assert Settings() == settings


def test_secrets_are_masked_wherever_settings_are_shown() -> None:
    settings = Settings(store_url=SecretStr("rediss://user:hidden@store.internal:6390/0?password=hidden"))
    rows = {row.name: row for row in describe(settings)}

    assert rows["store_url"].value == "rediss://***@store.internal:6390/0?***"
    assert rows["store_url"].variable == "ROUNDTABLE_STORE_URL"
    assert "hidden" not in repr(settings)
    assert all(row.description for row in rows.values())


def test_a_wrong_value_is_not_repeated_in_the_error() -> None:
    with pytest.raises(ValidationError) as error:
        Settings(port="hidden")  # type: ignore[arg-type]
    assert "hidden" not in str(error.value)


def test_a_draining_service_is_gone_within_ten_seconds() -> None:
    with pytest.raises(ValidationError):
        Settings(drain_seconds=9.5)


def test_a_missing_setting_says_how_to_set_it() -> None:
    with pytest.raises(SettingMissing, match="--store-url or ROUNDTABLE_STORE_URL"):
        required("store_url", Settings().store_url)


def test_readiness_is_told_only_to_what_can_be_written() -> None:
    read, write = os.pipe()
    assert Settings(ready_fd=write).ready_fd == write
    with pytest.raises(ValidationError, match="reading only"):
        Settings(ready_fd=read)
    os.close(read)
    os.close(write)
    with pytest.raises(ValidationError, match="no such file descriptor"):
        Settings(ready_fd=write)
