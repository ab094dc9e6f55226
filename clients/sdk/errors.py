"""Errors of calls, told apart by what a caller can do about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import grpc
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc import aio

Detail = TypeVar("Detail", bound=Message)

_STATUS_KEY = "grpc-status-details-bin"


class CallFailed(Exception):
    """A call that was refused or did not come through."""

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str,
        message: str,
        metadata: Mapping[str, str] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{reason or code.name}: {message}")
        self.code = code
        self.reason = reason
        """As the contracts list them; empty if the error did not come from a service of ours."""
        self.message = message
        """For people; may change."""
        self.metadata = dict(metadata or {})
        """Facts by name: `field`, `rule`, and what the contracts list for the reason."""
        self.retry_after = retry_after
        """Seconds after which the service wants to be asked again, if it said so."""


class Refused(CallFailed):
    """The call is wrong, or not allowed now. Repeating it does not help."""


class DecisionClosed(Refused):
    """The decision is settled; `metadata` tells the `version` and the `outcome`. The feed brings what came of it."""


class AlreadyApplied(Refused):
    """The call succeeded earlier, and its answer is no longer kept. The feed brings what came of it."""


class CursorLost(Refused):
    """The store does not have the place where the feed was left, so what was seen after it may not have happened.
    To be watched again from a snapshot."""


class GameClosed(Exception):
    """The game was closed before its end, and this is why. It has no outcome."""


class Unavailable(CallFailed):
    """Repeating the call later can help. It may have been carried out: to be repeated with the same request id."""


class ServiceFault(CallFailed):
    """A defect of the service, to be reported with its message."""


_BY_REASON: Mapping[str, type[CallFailed]] = {
    "DECISION_CLOSED": DecisionClosed,
    "ALREADY_APPLIED": AlreadyApplied,
    "CURSOR_UNKNOWN": CursorLost,
}
_BY_CODE: Mapping[grpc.StatusCode, type[CallFailed]] = {
    grpc.StatusCode.UNAVAILABLE: Unavailable,
    grpc.StatusCode.DEADLINE_EXCEEDED: Unavailable,
    grpc.StatusCode.INTERNAL: ServiceFault,
    grpc.StatusCode.UNKNOWN: ServiceFault,
    grpc.StatusCode.DATA_LOSS: ServiceFault,
}


def call_failed(error: aio.AioRpcError) -> CallFailed:
    """The typed form of a failed call."""
    info, retry = _details(error)
    retry_after = retry.retry_delay.ToMilliseconds() / 1000 if retry.HasField("retry_delay") else None
    kind = _BY_REASON.get(info.reason) or _BY_CODE.get(error.code(), Refused if retry_after is None else Unavailable)
    return kind(error.code(), info.reason, error.details() or "", info.metadata, retry_after)


def _details(error: aio.AioRpcError) -> tuple[ErrorInfo, RetryInfo]:
    info, retry = ErrorInfo(), RetryInfo()
    for key, value in error.trailing_metadata() or ():
        if key == _STATUS_KEY and isinstance(value, bytes):
            for packed in Status.FromString(value).details:
                if not packed.Unpack(info):
                    packed.Unpack(retry)
    return info, retry
