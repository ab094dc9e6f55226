"""Calls that are repeated while repeating helps, and streams that are taken up again where they broke off."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from random import SystemRandom
from typing import TypeVar

import grpc
from google.protobuf.message import Message
from grpc import aio

from clients.sdk.errors import CallFailed, Unavailable, call_failed

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)

Measured = Callable[[str, float], None]
"""Told of each call that succeeded: its name, and the seconds its caller waited, repetitions included."""

ATTEMPT_SECONDS = 10.0
# A feed that is alive has an entry or a heartbeat every 10 seconds.
SILENCE_SECONDS = 25.0

_FIRST_BACKOFF_SECONDS = 0.1
_LONGEST_BACKOFF_SECONDS = 1.0
_random = SystemRandom()


class _Patience:
    """How long to go on trying without success, and how long to wait in between."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.renew()

    def renew(self) -> None:
        self._deadline = time.monotonic() + self._seconds
        self._backoff = _FIRST_BACKOFF_SECONDS

    async def wait(self, failure: Unavailable) -> None:
        """Waits as the service wants it or longer at each time; raises the failure when patience is at its end."""
        pause = max(self._backoff, failure.retry_after or 0.0) * _random.uniform(1.0, 1.5)
        if time.monotonic() + pause > self._deadline:
            raise failure
        self._backoff = min(2 * self._backoff, _LONGEST_BACKOFF_SECONDS)
        await asyncio.sleep(pause)


class Caller:
    def __init__(self, patience: float, measured: Measured | None) -> None:
        self._patience = patience
        self._measured = measured

    async def call(self, name: str, rpc: aio.UnaryUnaryMultiCallable[Request, Response], request: Request) -> Response:
        """The answer to a request that may be repeated as it is.

        Raises:
            CallFailed: it was refused, or is still unavailable when patience is at its end.
        """
        patience = _Patience(self._patience)
        began = time.perf_counter()
        while True:
            try:
                response = await rpc(request, timeout=ATTEMPT_SECONDS)
            except aio.AioRpcError as error:
                failure = call_failed(error)
                if not isinstance(failure, Unavailable):
                    raise failure from error
                await patience.wait(failure)
            else:
                if self._measured is not None:
                    self._measured(name, time.perf_counter() - began)
                return response

    async def follow(
        self, start: Callable[[], aio.UnaryStreamCall[Request, Response]]
    ) -> AsyncGenerator[Response, None]:
        """The messages of a stream, which is started again whenever it breaks off, ends or falls silent. Never ends
        by itself.

        Args:
            start: starts it where it broke off.

        Raises:
            CallFailed: it was refused, or stays unavailable.
        """
        patience = _Patience(self._patience)
        while True:
            stream = start()
            messages = aiter(stream)
            try:
                while True:
                    async with asyncio.timeout(SILENCE_SECONDS):
                        message = await anext(messages, None)
                    if message is None:
                        failure: CallFailed = Unavailable(grpc.StatusCode.OK, "", "the stream ended")
                        break
                    patience.renew()
                    yield message
            except TimeoutError:
                failure = Unavailable(grpc.StatusCode.UNAVAILABLE, "", f"silent for {SILENCE_SECONDS:.0f} s")
            except aio.AioRpcError as error:
                failure = call_failed(error)
            finally:
                stream.cancel()
            if not isinstance(failure, Unavailable):
                raise failure
            await patience.wait(failure)
