"""Refusals: one exception that travels between services as `google.rpc.Status` and back."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

import grpc
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2
from grpc import aio
from grpc_status import rpc_status

from services.runtime.texts import bounded

Detail = TypeVar("Detail", error_details_pb2.ErrorInfo, error_details_pb2.RetryInfo)

DOMAIN = "roundtable"
RETRY_AFTER_SECONDS = 1.0

# Trailing metadata is limited to about 8 KB altogether, and holds the text up to three times.
_LONGEST_MESSAGE = 500
_LONGEST_METADATA_VALUE = 200
# A field can be named by whoever calls: the key of an option.
_LONGEST_FIELD = 96
_LONGEST_FAULTS = 3000


class Reason(StrEnum):
    """Why a call failed; stable, so that clients act on it and never on the text."""

    FIELD_MISSING = "FIELD_MISSING"
    FIELD_INVALID = "FIELD_INVALID"
    FIELD_TOO_LONG = "FIELD_TOO_LONG"
    MESSAGE_GARBLED = "MESSAGE_GARBLED"
    MESSAGE_TOO_LARGE = "MESSAGE_TOO_LARGE"
    UNKNOWN_METHOD = "UNKNOWN_METHOD"
    UNKNOWN_SERVICE = "UNKNOWN_SERVICE"
    REQUEST_ID_REUSED = "REQUEST_ID_REUSED"
    ALREADY_APPLIED = "ALREADY_APPLIED"

    UNKNOWN_GAME = "UNKNOWN_GAME"
    SEATS_OUT_OF_RANGE = "SEATS_OUT_OF_RANGE"
    UNKNOWN_GAME_OPTION = "UNKNOWN_GAME_OPTION"
    GAME_OPTION_VALUE = "GAME_OPTION_VALUE"
    SEEDS_NOT_ALLOWED = "SEEDS_NOT_ALLOWED"

    OPERATOR_TOKEN_REQUIRED = "OPERATOR_TOKEN_REQUIRED"
    OPERATOR_TOKEN_INVALID = "OPERATOR_TOKEN_INVALID"
    POSITION_INVALID = "POSITION_INVALID"

    GAME_NOT_FOUND = "GAME_NOT_FOUND"
    GAME_OVER = "GAME_OVER"
    GAME_NOT_OVER = "GAME_NOT_OVER"
    SEAT_TOKEN_REQUIRED = "SEAT_TOKEN_REQUIRED"
    SEAT_TOKEN_INVALID = "SEAT_TOKEN_INVALID"
    SPECTATORS_NOT_ALLOWED = "SPECTATORS_NOT_ALLOWED"
    PLAYER_TOKEN_INVALID = "PLAYER_TOKEN_INVALID"
    PLAYER_TOKENS_OFF = "PLAYER_TOKENS_OFF"
    CURSOR_INVALID = "CURSOR_INVALID"
    CURSOR_UNKNOWN = "CURSOR_UNKNOWN"
    WATCHER_TOO_SLOW = "WATCHER_TOO_SLOW"

    SEAT_LEFT = "SEAT_LEFT"
    JOIN_TOKEN_INVALID = "JOIN_TOKEN_INVALID"
    TALK_OFF = "TALK_OFF"
    UNKNOWN_DECLARATION = "UNKNOWN_DECLARATION"
    SAID_ALREADY = "SAID_ALREADY"
    SAID_ENOUGH = "SAID_ENOUGH"
    TALKING_TOO_FAST = "TALKING_TOO_FAST"

    NOT_ASKED = "NOT_ASKED"
    UNKNOWN_DECISION = "UNKNOWN_DECISION"
    DECISION_CLOSED = "DECISION_CLOSED"
    UNKNOWN_OPTION = "UNKNOWN_OPTION"
    TOO_FEW_PICKS = "TOO_FEW_PICKS"
    TOO_MANY_PICKS = "TOO_MANY_PICKS"
    REPEATED_PICK = "REPEATED_PICK"
    PICKS_OUT_OF_ORDER = "PICKS_OUT_OF_ORDER"
    PICK_NOT_ALONE = "PICK_NOT_ALONE"
    ORDERS_EXHAUSTED = "ORDERS_EXHAUSTED"
    SEATS_FIXED = "SEATS_FIXED"
    STATE_GARBLED = "STATE_GARBLED"
    RULES_VERSION = "RULES_VERSION"
    LOG_BROKEN = "LOG_BROKEN"
    TABLE_BROKEN = "TABLE_BROKEN"

    TICKET_NOT_FOUND = "TICKET_NOT_FOUND"
    TICKET_MATCHED = "TICKET_MATCHED"

    DATA_FILE = "DATA_FILE"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    ENGINE_UNAVAILABLE = "ENGINE_UNAVAILABLE"
    SESSION_UNAVAILABLE = "SESSION_UNAVAILABLE"
    SHUTTING_DOWN = "SHUTTING_DOWN"
    INTERNAL = "INTERNAL"

    @property
    def code(self) -> grpc.StatusCode:
        return _CODES.get(self, grpc.StatusCode.INVALID_ARGUMENT)


_CODES: Mapping[Reason, grpc.StatusCode] = {
    Reason.MESSAGE_TOO_LARGE: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.UNKNOWN_METHOD: grpc.StatusCode.UNIMPLEMENTED,
    Reason.UNKNOWN_SERVICE: grpc.StatusCode.NOT_FOUND,
    Reason.REQUEST_ID_REUSED: grpc.StatusCode.ALREADY_EXISTS,
    Reason.ALREADY_APPLIED: grpc.StatusCode.ALREADY_EXISTS,
    Reason.UNKNOWN_GAME: grpc.StatusCode.NOT_FOUND,
    Reason.SEEDS_NOT_ALLOWED: grpc.StatusCode.PERMISSION_DENIED,
    Reason.OPERATOR_TOKEN_REQUIRED: grpc.StatusCode.UNAUTHENTICATED,
    Reason.OPERATOR_TOKEN_INVALID: grpc.StatusCode.PERMISSION_DENIED,
    Reason.GAME_NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    Reason.GAME_OVER: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.GAME_NOT_OVER: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.SEAT_TOKEN_REQUIRED: grpc.StatusCode.UNAUTHENTICATED,
    Reason.SEAT_TOKEN_INVALID: grpc.StatusCode.PERMISSION_DENIED,
    Reason.SPECTATORS_NOT_ALLOWED: grpc.StatusCode.PERMISSION_DENIED,
    Reason.PLAYER_TOKEN_INVALID: grpc.StatusCode.PERMISSION_DENIED,
    Reason.PLAYER_TOKENS_OFF: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.CURSOR_UNKNOWN: grpc.StatusCode.OUT_OF_RANGE,
    Reason.WATCHER_TOO_SLOW: grpc.StatusCode.UNAVAILABLE,
    Reason.JOIN_TOKEN_INVALID: grpc.StatusCode.PERMISSION_DENIED,
    Reason.SEAT_LEFT: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.TALK_OFF: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.SAID_ALREADY: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.SAID_ENOUGH: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.TALKING_TOO_FAST: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.NOT_ASKED: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.UNKNOWN_DECISION: grpc.StatusCode.NOT_FOUND,
    Reason.DECISION_CLOSED: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.ORDERS_EXHAUSTED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.SEATS_FIXED: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.RULES_VERSION: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.LOG_BROKEN: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.TABLE_BROKEN: grpc.StatusCode.DATA_LOSS,
    Reason.TICKET_NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    Reason.TICKET_MATCHED: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.DATA_FILE: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.STORE_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Reason.ENGINE_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Reason.SESSION_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Reason.SHUTTING_DOWN: grpc.StatusCode.UNAVAILABLE,
    Reason.INTERNAL: grpc.StatusCode.INTERNAL,
}


class ServiceError(Exception):
    """A call is refused. Raised anywhere below a handler; the server's interceptor makes it a status.

    `field` (the offending request field) and `rule` (the rule's number) become metadata of those names, and a
    field also a BadRequest, which names `faults` within the field too, by path, as many as there is room for.
    `retry_after` is in seconds; left out, it is set for what is unavailable. Texts that are too long for an error or a
    log are cut.
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        field: str | None = None,
        rule: str | None = None,
        metadata: Mapping[str, str] | None = None,
        faults: Sequence[tuple[str, str]] = (),
        retry_after: float | None = None,
    ) -> None:
        self.faults = faults
        self.reason = reason
        self.message = bounded(message, _LONGEST_MESSAGE)
        super().__init__(self.message)
        self.metadata = {key: bounded(value, _LONGEST_METADATA_VALUE) for key, value in (metadata or {}).items()}
        if field is not None:
            self.metadata["field"] = bounded(field, _LONGEST_FIELD)
        if rule is not None:
            self.metadata["rule"] = rule
        if retry_after is None and reason.code is grpc.StatusCode.UNAVAILABLE:
            retry_after = RETRY_AFTER_SECONDS
        self.retry_after = retry_after

    @property
    def code(self) -> grpc.StatusCode:
        return self.reason.code

    @property
    def field(self) -> str | None:
        return self.metadata.get("field")

    @property
    def rule(self) -> str | None:
        return self.metadata.get("rule")

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"

    def to_status(self) -> status_pb2.Status:
        status = status_pb2.Status(code=self.code.value[0], message=self.message)
        info = error_details_pb2.ErrorInfo(reason=self.reason, domain=DOMAIN, metadata=self.metadata)
        status.details.add().Pack(info)
        if self.field is not None:
            violation = error_details_pb2.BadRequest.FieldViolation(
                field=self.field, description=self.message, reason=self.reason
            )
            violations = [violation, *self._violations()]
            status.details.add().Pack(error_details_pb2.BadRequest(field_violations=violations))
        if self.retry_after is not None:
            delay = Duration()
            delay.FromMilliseconds(round(self.retry_after * 1000))
            status.details.add().Pack(error_details_pb2.RetryInfo(retry_delay=delay))
        return status

    def _violations(self) -> Iterator[error_details_pb2.BadRequest.FieldViolation]:
        room = _LONGEST_FAULTS
        for path, problem in self.faults:
            violation = error_details_pb2.BadRequest.FieldViolation(
                field=bounded(path, _LONGEST_FIELD),
                description=bounded(problem, _LONGEST_METADATA_VALUE),
                reason=self.reason,
            )
            room -= violation.ByteSize()
            if room < 0:
                return
            yield violation

    @classmethod
    def from_status(cls, status: status_pb2.Status) -> "ServiceError":
        """The refusal another service sent. One without a reason this version knows becomes INTERNAL."""
        info = _detail(status, error_details_pb2.ErrorInfo())
        if info is None or info.domain != DOMAIN or info.reason not in Reason.__members__:
            code = grpc_code(status.code).name
            return cls(Reason.INTERNAL, f"an answer without a known reason: {code}: {status.message}")
        retry = _detail(status, error_details_pb2.RetryInfo())
        return cls(
            Reason(info.reason),
            status.message,
            metadata=info.metadata,
            retry_after=None if retry is None else retry.retry_delay.ToMilliseconds() / 1000,
        )

    @classmethod
    def from_rpc_error(cls, error: aio.AioRpcError, unavailable: Reason) -> "ServiceError":
        """The refusal behind a failed call to another service.

        Args:
            unavailable: what it means that the other service could not be reached, or not in time.
        """
        status = rpc_status.from_call(error)  # type: ignore[arg-type]  # it reads only code, details and metadata
        if status is not None:
            return cls.from_status(status)
        if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
            return cls(unavailable, f"{error.code().name}: {error.details()}")
        return cls(Reason.INTERNAL, f"an answer without a reason: {error.code().name}: {error.details()}")


class BindError(Exception):
    """A service cannot listen where it was told to."""

    def __init__(self, address: str) -> None:
        super().__init__(f"cannot listen on {address}: port taken, or not this machine's address")


def grpc_code(number: int) -> grpc.StatusCode:
    """The status code of this number; UNKNOWN if there is none."""
    return next((code for code in grpc.StatusCode if code.value[0] == number), grpc.StatusCode.UNKNOWN)


def _detail(status: status_pb2.Status, detail: Detail) -> Detail | None:
    for packed in status.details:
        if packed.Unpack(detail):
            return detail
    return None
