"""Rate, errors and duration of every RPC, for Prometheus."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import ThreadingTCPServer

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, MetricsHandler

from services.runtime.errors import BindError
from services.runtime.settings import join_address

# From a cached answer to a call that waits for a store coming back.
_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_POLL_SECONDS = 0.05


class Metrics:
    """The metrics of one server. Services add their own to `registry`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.finished = Counter(
            "roundtable_rpc_finished",
            "Calls that ended, by status code and reason (empty for OK).",
            ["rpc", "code", "reason"],
            registry=self.registry,
        )
        self.open = Gauge("roundtable_rpc_open", "Calls running.", ["rpc"], registry=self.registry)
        self.duration = Histogram(
            "roundtable_rpc_duration_seconds",
            "Time from the first message to the end of a call; of a stream, its life.",
            ["rpc"],
            buckets=_BUCKETS,
            registry=self.registry,
        )

    @contextmanager
    def served(self, host: str, port: int) -> Iterator[str]:
        """Serves the metrics over HTTP on a thread of its own, and gives the bound host:port.

        Raises:
            BindError: the address is not free or not this machine's.
        """
        try:
            endpoint = _Endpoint(host, port, self.registry)
        except OSError as error:
            raise BindError(join_address(host, port)) from error
        with endpoint:
            thread = threading.Thread(target=endpoint.serve_forever, args=(_POLL_SECONDS,), daemon=True)
            thread.start()
            try:
                yield join_address(host, endpoint.server_address[1])
            finally:
                endpoint.shutdown()
                thread.join()


# The library's own server looks for its end only twice a second, and asks for the host's name when it starts.
class _Endpoint(ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, host: str, port: int, registry: CollectorRegistry) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), MetricsHandler.factory(registry))
