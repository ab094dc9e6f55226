"""A cluster of stores on the loopback interface: three primaries with a replica each, to be killed and moved about.

Its methods block; from a coroutine call them by `asyncio.to_thread`.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redis import Redis, exceptions

from services.runtime.embedded import find_server, persistence
from services.runtime.processes import Child, Processes
from services.runtime.settings import Durability

SHARDS = 3
SLOTS = 16384
NODE_TIMEOUT_MS = 1000
"""How long a node must be silent before its replica takes over."""

_HOST = "127.0.0.1"
_HEALTHY_SECONDS = 40.0
_POLL_SECONDS = 0.05
_ANSWER_SECONDS = 2.0
_KEYS_AT_ONCE = 100
_MIGRATE_MS = 5000


class Unhealthy(Exception):
    """The cluster does not become what it should within its time."""


class Node:
    """One server; it keeps its port, its files and its identity when it is started again."""

    def __init__(self, number: int, folder: Path, password: str, durability: Durability) -> None:
        self.name = f"node-{number}"
        self.port, self.bus_port = _free_ports(2)
        client = Redis(host=_HOST, port=self.port, password=password, socket_timeout=_ANSWER_SECONDS, protocol=2)
        client.response_callbacks.clear()  # answers as the server gives them
        self._client = client
        self._execute: Callable[..., Any] = client.execute_command
        self._processes = Processes(logs=folder)
        self._child: Child | None = None
        self._folder = folder / self.name
        self._folder.mkdir(parents=True)
        directives = {
            "bind": _HOST,
            "port": self.port,
            "requirepass": password,
            "masterauth": password,
            "cluster-enabled": "yes",
            "cluster-port": self.bus_port,
            "cluster-node-timeout": NODE_TIMEOUT_MS,
            "repl-diskless-sync-delay": 0,
            "repl-ping-replica-period": 1,
            **persistence(durability),
        }
        configuration = self._folder / "store.conf"
        configuration.touch(mode=0o600)
        configuration.write_text("".join(f"{name} {value}\n" for name, value in directives.items()), encoding="utf-8")

    @property
    def address(self) -> str:
        return f"{_HOST}:{self.port}"

    def ask(self, *command: str | int | bytes) -> Any:
        """
        Raises:
            RedisError: the node refuses or does not answer.
        """
        return self._execute(*command)

    @property
    def id(self) -> str:
        return str(self.ask("CLUSTER", "MYID"), "ascii")

    @property
    def runs(self) -> bool:
        return self._child is not None

    def is_primary(self) -> bool:
        """As it sees itself; false if it does not answer."""
        try:
            return bool(self.ask("ROLE")[0] == b"master")
        except exceptions.RedisError:
            return False

    def well(self) -> bool:
        """It knows every slot served and, as a replica, has what its primary has."""
        try:
            if b"cluster_state:ok" not in self.ask("CLUSTER", "INFO"):
                return False
            role = self.ask("ROLE")
        except exceptions.RedisError:
            return False
        return bool(role[2]) if role[0] == b"master" else role[3] == b"connected"

    def start(self) -> None:
        assert self._child is None, "it runs"
        self._child = self._processes.start(self.name, [str(find_server()), "store.conf"], folder=self._folder)
        _until(self._answers, f"{self.name} answers")

    def _answers(self) -> bool:
        try:
            return bool(self.ask("PING"))
        except exceptions.RedisError:
            return False

    def kill(self) -> None:
        """By SIGKILL."""
        assert self._child is not None, "it does not run"
        self._processes.discard(self._child)
        self._child = None
        self._client.connection_pool.disconnect()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Neither answers nor ends, as if cut off, while the block runs."""
        found = dict(line.split(b":", 1) for line in self.ask("INFO", "server").split(b"\r\n") if b":" in line)
        pid = int(found[b"process_id"])
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def stop(self) -> None:
        self._processes.stop()
        self._child = None
        self._client.close()


class Cluster:
    """Six nodes, whole after `cluster` has started it."""

    def __init__(self, folder: Path, durability: Durability) -> None:
        self._password = secrets.token_urlsafe(24)
        self.nodes = [Node(number, folder, self._password, durability) for number in range(2 * SHARDS)]
        self.url = f"redis+cluster://:{self._password}@{','.join(node.address for node in self.nodes)}"

    def form(self) -> None:
        for number, node in enumerate(self.nodes, 1):
            node.start()
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", number)
        first, primaries = self.nodes[0], self.nodes[:SHARDS]
        for node in self.nodes[1:]:
            first.ask("CLUSTER", "MEET", _HOST, node.port, node.bus_port)
        for number, node in enumerate(primaries):
            begin, end = SLOTS * number // SHARDS, SLOTS * (number + 1) // SHARDS - 1
            node.ask("CLUSTER", "ADDSLOTSRANGE", begin, end)
        _until(lambda: all(_knows(node, len(self.nodes)) for node in self.nodes), "the nodes know each other")
        for primary, replica in zip(primaries, self.nodes[SHARDS:], strict=True):
            replica.ask("CLUSTER", "REPLICATE", primary.id)
        self.wait_until_well()

    def wait_until_well(self) -> None:
        """Until every slot is served, and every running replica has what its primary has.

        Raises:
            Unhealthy: not within 40 seconds.
        """
        _until(lambda: all(node.well() for node in self.nodes), "the cluster is whole")

    def primaries(self) -> list[Node]:
        return [node for node in self.nodes if node.runs and node.is_primary()]

    def replica_of(self, primary: Node) -> Node:
        """
        Raises:
            Unhealthy: it has none.
        """
        for node in self.nodes:
            if node.runs and node is not primary:
                role = node.ask("ROLE")
                if role[0] == b"slave" and int(role[2]) == primary.port:
                    return node
        raise Unhealthy(f"{primary.name} has no replica")

    def owner(self, slot: int) -> Node:
        for begin, end, primary, *_ in self._any().ask("CLUSTER", "SLOTS"):
            if begin <= slot <= end:
                return next(node for node in self.nodes if node.port == primary[1])
        raise Unhealthy(f"nobody serves slot {slot}")

    def _any(self) -> Node:
        return self.primaries()[0]

    def slot_of(self, key: str) -> int:
        slot: int = self._any().ask("CLUSTER", "KEYSLOT", key)
        return slot

    def kill_primary(self, primary: Node) -> Node:
        """Kills a primary and gives the replica that has taken over."""
        replica = self.replica_of(primary)
        primary.kill()
        _until(replica.is_primary, f"{replica.name} takes over")
        return replica

    def hand_over(self, primary: Node) -> Node:
        """Lets a replica take over from a primary that goes on, and gives it."""
        replica = self.replica_of(primary)
        replica.ask("CLUSTER", "FAILOVER")
        _until(replica.is_primary, f"{replica.name} takes over")
        return replica

    def move(self, slots: Sequence[int], target: Node) -> None:
        """Moves slots with their keys to another primary while they are used, one after the other."""
        target_id = target.id
        for slot in slots:
            source = self.owner(slot)
            if source is target:
                continue
            target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
            source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", target_id)
            while keys := source.ask("CLUSTER", "GETKEYSINSLOT", slot, _KEYS_AT_ONCE):
                place = (_HOST, target.port, "", 0, _MIGRATE_MS)
                source.ask("MIGRATE", *place, "REPLACE", "AUTH", self._password, "KEYS", *keys)
            # The target first, so that there is always one that knows itself as the owner.
            for node in (target, source, *(each for each in self.primaries() if each not in (target, source))):
                node.ask("CLUSTER", "SETSLOT", slot, "NODE", target_id)

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()


@contextmanager
def cluster(folder: Path, *, durability: Durability = "everysec") -> Iterator[Cluster]:
    """A cluster while the block runs.

    Args:
        folder: where its nodes' data lie; empty.
        durability: what each node's own files keep.

    Raises:
        StoreMissing: there is no server program.
        Unhealthy: the nodes do not find together.
    """
    made = Cluster(folder, durability)
    try:
        made.form()
        yield made
    finally:
        made.stop()


def _knows(node: Node, nodes: int) -> bool:
    known: bytes = node.ask("CLUSTER", "NODES")
    return known.count(b"connected") - known.count(b"disconnected") == nodes and b"handshake" not in known


def _until(done: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _HEALTHY_SECONDS
    while not done():
        if time.monotonic() > deadline:
            raise Unhealthy(f"not within {_HEALTHY_SECONDS:.0f} s: {what}")
        time.sleep(_POLL_SECONDS)


def _free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind((_HOST, 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()
