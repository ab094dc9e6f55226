"""The address of a store as an operator writes it: checked before anything connects, shown without its secrets."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, parse_qsl, urlsplit

MASK = "***"

_TLS = ("rediss", "rediss+cluster")
_SCHEMES = ("redis", "unix", "redis+cluster", *_TLS)
_CLUSTER = "+cluster"
_LOGIN_OPTIONS = frozenset({"username", "password"})
_TLS_OPTIONS = frozenset({"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"})
_HOST = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[^\[\]]+\])(:(?P<port>[0-9]{1,5}))?")
_DATABASE = re.compile(r"[0-9]{1,5}")


def check_store_url(url: str) -> None:
    """
    Raises:
        ValueError: it is no address of a store. What it says repeats no part of the address, any of which can be
            secret if it is malformed.
    """
    fault = _fault(url)
    if fault:
        raise ValueError(
            f"{fault}; a store is redis://:password@host:port/0, rediss:// with TLS, unix:///path or "
            "redis+cluster://:password@host:port,host:port, with / ? # @ % in a password as %2F %3F %23 %40 %25"
        )


def mask_url(url: str) -> str:
    """The address without its login and options; nothing of it if it is malformed."""
    if _fault(url):
        return MASK
    parts = urlsplit(url)
    login, _, hosts = parts.netloc.rpartition("@")
    return f"{parts.scheme}://{f'{MASK}@' if login else ''}{hosts}{parts.path}{f'?{MASK}' if parts.query else ''}"


def _fault(url: str) -> str | None:
    if not url.isascii() or not url.isprintable() or " " in url:
        return "it has characters that no address has"
    try:
        parts = urlsplit(url)
    except ValueError:
        return "its host is malformed"
    # Only in lower case, which is what the store's client knows.
    if parts.scheme not in _SCHEMES or not url.startswith(f"{parts.scheme}://"):
        return "it begins with no scheme of a store"
    if "#" in url:
        return "it has a fragment"
    return _hosts_fault(parts) or _database_fault(parts) or _options_fault(parts)


def _hosts_fault(parts: SplitResult) -> str | None:
    hosts = parts.netloc.rpartition("@")[2]
    if parts.scheme == "unix":
        if hosts or len(parts.path) < 2:
            return "it does not name one socket"
        return None
    clustered = parts.scheme.endswith(_CLUSTER)
    for address in hosts.split(",") if clustered else [hosts]:
        found = _HOST.fullmatch(address)
        if found is None or not _is_host(found["host"]):
            return "its host is malformed"
        if found["port"] is None and clustered:
            return "a node of the cluster has no port"
        if found["port"] is not None and not 0 < int(found["port"]) < 1 << 16:
            return "its port is not a number from 1 to 65535"
    return None


def _is_host(host: str) -> bool:
    if not host.startswith("["):
        return True
    try:
        ipaddress.IPv6Address(host[1:-1])
    except ValueError:
        return False
    return True


def _database_fault(parts: SplitResult) -> str | None:
    if parts.scheme == "unix":
        return None
    database = parts.path.removeprefix("/")
    if parts.scheme.endswith(_CLUSTER):
        return "a cluster has only database 0" if database not in ("", "0") else None
    if database and not _DATABASE.fullmatch(database):
        return "its database is not a number"
    return None


def _options_fault(parts: SplitResult) -> str | None:
    if not parts.query:
        return None
    if parts.scheme.endswith(_CLUSTER):
        return "a cluster's address takes no options"
    known = _LOGIN_OPTIONS | {"db"} | (_TLS_OPTIONS if parts.scheme in _TLS else frozenset())
    try:
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True)
    except ValueError:
        return "its options are malformed"
    for name, value in options:
        if name not in known:
            return f"an option is none of {', '.join(sorted(known))}"
        if not value or (name == "db" and not _DATABASE.fullmatch(value)):
            return f"the value of {name} is malformed"
    return None
