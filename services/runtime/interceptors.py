"""What every call of a server goes through: ids, logs, metrics, timing, and errors turned into statuses."""

from __future__ import annotations

import asyncio
import inspect
import re
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeAlias

import grpc
import structlog
from google.protobuf.message import DecodeError
from grpc import aio
from grpc_status import rpc_status

from services.runtime.errors import Reason, ServiceError
from services.runtime.logging import get_logger
from services.runtime.metrics import Metrics

REQUEST_ID = "x-request-id"
SERVER_TIMING = "server-timing-ms"

Context: TypeAlias = "aio.ServicerContext[Any, Any]"  # generic only in the stubs
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Decode = Callable[[bytes], Any]
# Runs a handler to its end, given what the core hands over: a raw message, or an iterator of decoded ones.
Behaviour = Callable[[Any, Context], Awaitable[Any]]

_REQUEST_ID = re.compile(r"[!-~]{1,64}")
_log = get_logger()


def outgoing_metadata() -> tuple[tuple[str, str], ...]:
    """Metadata that carries the running call's request id on to another service."""
    request_id = structlog.contextvars.get_contextvars().get("request_id")
    return ((REQUEST_ID, request_id),) if request_id else ()


class CallInterceptor(aio.ServerInterceptor):
    """Wraps every handler of a server.

    A ServiceError becomes its status. Any other exception is our fault: it is logged with its traceback and
    the client gets INTERNAL without detail. A cancellation passes through, so that the call ends where it
    stands. Messages that are too large or cannot be decoded are refused with a reason; the core's own limit
    must lie above `max_message_bytes`, as its refusals carry none. So are methods that nobody serves.
    """

    def __init__(self, metrics: Metrics, max_message_bytes: int, *, patience_seconds: float = 10.0) -> None:
        """
        Args:
            patience_seconds: how long a refusal waits for a client that does not read; then its call is cut off.
        """
        self._metrics = metrics
        self._patience_seconds = patience_seconds
        self._max_message_bytes = max_message_bytes
        self._handlers: dict[str, Handler] = {}
        self._streams: set[asyncio.Task[Any]] = set()
        self._draining = False

    def end_streams(self) -> None:
        """Ends every stream of responses, open or to come, with SHUTTING_DOWN: few end by themselves."""
        self._draining = True
        for task in self._streams:
            task.cancel()

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        method = handler_call_details.method
        wrapped = self._handlers.get(method)
        if wrapped is None:
            handler = await continuation(handler_call_details)
            if handler is None:
                return self._unknown(method)
            wrapped = self._handlers[method] = self._wrap(method, handler)
        return wrapped

    def _unknown(self, method: str) -> Handler:
        """Refuses a method that nobody serves. Made anew each time: names from outside are not kept, nor counted."""

        async def refuse(_requests: Any, _context: Context) -> None:
            raise _unknown_method(method)

        # Serves calls of every shape, as it reads nothing.
        return grpc.stream_stream_rpc_method_handler(self._guarded("unknown", refuse))

    def _wrap(self, method: str, handler: Handler) -> Handler:
        rpc = method.removeprefix("/")
        decode = self._checked(handler.request_deserializer or bytes)
        encode = handler.response_serializer
        # The types know only the handlers of the synchronous server.
        serve: Any = handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream
        run: Behaviour = self._ending_when_drained(_written(serve)) if handler.response_streaming else serve
        if handler.request_streaming:
            guarded = self._guarded(rpc, run)
            make = (
                grpc.stream_stream_rpc_method_handler
                if handler.response_streaming
                else grpc.stream_unary_rpc_method_handler
            )
            return make(guarded, request_deserializer=decode, response_serializer=encode)

        # A single request is decoded inside the guard: the core answers what its decoder raises with UNKNOWN.
        async def run_raw(raw: bytes, context: Context) -> Any:
            return await run(decode(raw), context)

        guarded = self._guarded(rpc, run_raw)
        make = (
            grpc.unary_stream_rpc_method_handler if handler.response_streaming else grpc.unary_unary_rpc_method_handler
        )
        return make(guarded, request_deserializer=None, response_serializer=encode)

    def _checked(self, decode: Decode) -> Decode:
        def checked(raw: bytes) -> Any:
            if len(raw) > self._max_message_bytes:
                raise ServiceError(
                    Reason.MESSAGE_TOO_LARGE,
                    f"a message of {len(raw)} bytes; at most {self._max_message_bytes} are accepted",
                    metadata={"max_bytes": str(self._max_message_bytes)},
                )
            try:
                return decode(raw)
            except DecodeError as error:
                raise ServiceError(Reason.MESSAGE_GARBLED, "the message cannot be decoded") from error

        return checked

    def _ending_when_drained(self, run: Behaviour) -> Behaviour:
        async def ending(request: Any, context: Context) -> None:
            task = asyncio.current_task()
            assert task is not None, "handlers run in tasks"
            self._streams.add(task)
            try:
                if not self._draining:
                    await run(request, context)
                    return
            except asyncio.CancelledError:
                if not self._draining:
                    raise
                task.uncancel()
            finally:
                self._streams.discard(task)
            raise ServiceError(Reason.SHUTTING_DOWN, "the server is shutting down; call again")

        return ending

    def _guarded(self, rpc: str, run: Behaviour) -> Behaviour:
        open_calls = self._metrics.open.labels(rpc)
        duration = self._metrics.duration.labels(rpc)
        finished_ok = self._metrics.finished.labels(rpc, grpc.StatusCode.OK.name, "")

        async def guarded(request: Any, context: Context) -> Any:
            started = time.perf_counter()
            request_id = _request_id(context)
            structlog.contextvars.bind_contextvars(request_id=request_id, rpc=rpc)

            def trailers() -> tuple[tuple[str, str], ...]:
                elapsed = (time.perf_counter() - started) * 1000
                return ((REQUEST_ID, request_id), (SERVER_TIMING, f"{elapsed:.3f}"))

            async def refuse(error: ServiceError) -> None:
                self._metrics.finished.labels(rpc, error.code.name, error.reason).inc()
                status = rpc_status.to_status(error.to_status())
                trailing = (*(status.trailing_metadata or ()), *trailers())
                try:
                    async with asyncio.timeout(self._patience_seconds):
                        await context.abort(status.code, status.details, trailing)
                except TimeoutError:
                    # The status waits behind messages that the client does not take. The core resets the call.
                    raise asyncio.CancelledError from None

            open_calls.inc()
            try:
                response = await run(request, context)
            except ServiceError as error:
                _log.info("refused", reason=error.reason, message=error.message, **_described(error))
                await refuse(error)
            except aio.BaseError:
                # The transport's own: the handler aborted the call, or the client is gone.
                code: grpc.StatusCode | None = context.code()
                self._metrics.finished.labels(rpc, (code or grpc.StatusCode.CANCELLED).name, "").inc()
                raise
            except asyncio.CancelledError:
                self._metrics.finished.labels(rpc, grpc.StatusCode.CANCELLED.name, "").inc()
                raise
            except NotImplementedError:  # generated servicers, of a method that they were not given
                await refuse(_unknown_method(f"/{rpc}"))
            except Exception:
                _log.exception("failed")
                await refuse(ServiceError(Reason.INTERNAL, "the server failed; its log has the request id"))
            else:
                finished_ok.inc()
                _log.debug("finished")
                context.set_trailing_metadata((*(context.trailing_metadata() or ()), *trailers()))
                return response
            finally:
                open_calls.dec()
                duration.observe(time.perf_counter() - started)

        return guarded


def _written(serve: Callable[[Any, Context], Any]) -> Behaviour:
    """A handler of a response stream as a coroutine, whether it yields responses or writes them itself."""
    if not inspect.isasyncgenfunction(serve):
        return serve

    async def write_all(request: Any, context: Context) -> None:
        responses: AsyncIterator[Any]
        # The core leaves the generator of a cancelled call to the collector; what it holds must not wait.
        async with aclosing(serve(request, context)) as responses:
            async for response in responses:
                await context.write(response)

    return write_all


def _request_id(context: Context) -> str:
    for key, value in context.invocation_metadata() or ():
        if key == REQUEST_ID and isinstance(value, str) and _REQUEST_ID.fullmatch(value):
            return value
    return uuid.uuid4().hex


def _unknown_method(method: str) -> ServiceError:
    return ServiceError(Reason.UNKNOWN_METHOD, "this server has no such method", metadata={"method": method})


def _described(error: ServiceError) -> dict[str, str]:
    return {"field": error.field} if error.field else {}
