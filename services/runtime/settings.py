"""What a service can be told from outside: variables `ROUNDTABLE_*`, and flags that override them."""

import fcntl
import ipaddress
import os
from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple, TypeVar

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from services.runtime.store_url import MASK, check_store_url, mask_url

ENVIRONMENT_PREFIX = "ROUNDTABLE_"

Value = TypeVar("Value")

Port = Annotated[int, Field(ge=0, le=65535)]

Durability = Literal["development", "everysec", "always", "replicated"]
"""What an acknowledged change survives; README tells it for each level."""


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def join_address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Settings(BaseSettings):
    """The settings of every service; each reads those that concern it."""

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX, frozen=True, validate_default=True, hide_input_in_errors=True
    )

    host: str = Field(default="127.0.0.1", min_length=1, description="address the service listens on")
    port: Port = Field(default=0, description="port the service listens on; 0: a free one")
    metrics_port: Port = Field(default=0, description="port of the Prometheus endpoint; 0: a free one")
    insecure_bind_any: bool = Field(default=False, description="allow plain text beyond the loopback interface")
    store_url: SecretStr | None = Field(
        default=None, description="the store: redis://, rediss:// or unix://; a cluster: redis+cluster://host:port,..."
    )
    durability: Durability = Field(default="everysec", description="what an acknowledged move survives")
    store_replicas: int = Field(
        default=1, ge=1, le=5, description="replicas that must have a move before it is acknowledged, if replicated"
    )
    engine_addresses: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="host:port of each engine replica, separated by commas"
    )
    session_address: str | None = Field(default=None, description="host:port of the session service")
    player_key: Annotated[SecretStr, Field(min_length=16)] | None = Field(
        default=None,
        description="secret that players' tokens are made with; without it nobody lists games",
    )
    allow_seeds: bool = Field(default=False, description="allow games from fixed seeds (development and tests)")
    operator_token: SecretStr | None = Field(
        default=None, min_length=16, description="opens the calls that are for operators; without one they are closed"
    )
    ticket_seconds: float = Field(
        default=60, gt=0, le=3600, description="life of a waiting ticket that nobody watches, in seconds"
    )
    heartbeat_seconds: float = Field(
        default=8, gt=0, le=10, description="longest silence in a feed that is watched, in seconds"
    )
    feed_entries: int = Field(
        default=64, ge=1, le=10_000, description="entries a game's feed keeps; who is further behind gets a snapshot"
    )
    finished_game_seconds: int = Field(
        default=7 * 24 * 3600, ge=60, description="how long a finished game can still be looked at, in seconds"
    )
    abandoned_game_seconds: int = Field(
        default=90 * 24 * 3600,
        ge=60,
        description="how long nothing may happen in a game before it is closed, in seconds",
    )
    slow_watcher_seconds: float = Field(
        default=10,
        gt=0,
        le=60,
        description="how long a watcher may leave an entry unread before it is cut off, in seconds",
    )
    presence_seconds: float = Field(
        default=15, gt=0, le=300, description="how long a seat is shown as connected after its process died, in seconds"
    )
    max_message_bytes: int = Field(
        default=1 << 20, ge=1 << 10, le=1 << 26, description="largest accepted message, in bytes"
    )
    drain_seconds: float = Field(
        default=5.0, ge=0, le=9, description="longest wait for running calls at the end, in seconds"
    )
    reflection: bool = Field(default=True, description="let clients list the services and their messages")
    uvloop: bool = Field(default=True, description="use uvloop as the event loop")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="least level logged")
    ready_fd: int | None = Field(
        default=None, ge=3, description="file descriptor that gets one JSON line once the service listens"
    )

    @field_validator("engine_addresses", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("store_url")
    @classmethod
    def _address_of_a_store(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None or not value.get_secret_value():
            return None
        check_store_url(value.get_secret_value())
        return value

    @field_validator("ready_fd")
    @classmethod
    def _open_for_writing(cls, value: int | None) -> int | None:
        if value is not None:
            try:
                mode = fcntl.fcntl(value, fcntl.F_GETFL) & os.O_ACCMODE
            except OSError:
                raise ValueError("no such file descriptor is open") from None
            if mode == os.O_RDONLY:
                raise ValueError("the file descriptor is open for reading only")
        return value

    @model_validator(mode="after")
    def _plain_text_stays_on_loopback(self) -> "Settings":
        if not self.insecure_bind_any and not is_loopback(self.host):
            raise ValueError(
                f"host {self.host} is not a loopback address and the service speaks plain text; "
                f"bind to 127.0.0.1, or set {ENVIRONMENT_PREFIX}INSECURE_BIND_ANY=true where something else "
                "protects the network"
            )
        return self

    def environment(self) -> dict[str, str]:
        """The variables that give a child process these settings; secrets are in clear."""
        variables = {}
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, SecretStr):
                value = value.get_secret_value()
            elif isinstance(value, tuple):
                value = ",".join(value)
            if value is not None:
                variables[ENVIRONMENT_PREFIX + name.upper()] = str(value)
        return variables


class SettingMissing(Exception):
    """A service needs a setting that has no value."""


def required(name: str, value: Value | None) -> Value:
    """The value of a setting that the service cannot do without: `required("store_url", settings.store_url)`.

    Raises:
        SettingMissing: it is not set, or empty.
    """
    if not value:
        raise SettingMissing(
            f"{name} is not set: give --{name.replace('_', '-')} or {ENVIRONMENT_PREFIX}{name.upper()}"
        )
    return value


class Setting(NamedTuple):
    name: str
    value: str
    variable: str
    description: str


def describe(settings: Settings) -> Iterator[Setting]:
    """One row for each setting, with secrets masked; for `roundtable config`."""
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            shown = mask_url(value.get_secret_value()) if name.endswith("_url") else MASK
        elif isinstance(value, tuple):
            shown = ",".join(value)
        else:
            shown = "" if value is None else str(value)
        yield Setting(name, shown, ENVIRONMENT_PREFIX + name.upper(), field.description or "")
