"""A refusal keeps its meaning through a status, a stream and a call."""

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from services.runtime.errors import DOMAIN, Reason, ServiceError


def refusal() -> ServiceError:
    return ServiceError(
        Reason.UNKNOWN_OPTION,
        "move:tower is not offered",
        field="picks",
        rule="R6.7",
        metadata={"pick": "move:tower"},
        retry_after=1.5,
    )


def test_a_refusal_survives_the_way_through_a_status() -> None:
    back = ServiceError.from_status(refusal().to_status())

    assert back.reason is Reason.UNKNOWN_OPTION
    assert back.code is grpc.StatusCode.INVALID_ARGUMENT
    assert back.message == "move:tower is not offered"
    assert back.metadata == {"field": "picks", "rule": "R6.7", "pick": "move:tower"}
    assert back.retry_after == 1.5


def test_details_are_those_clients_know() -> None:
    status = refusal().to_status()
    info, request, retry = (
        error_details_pb2.ErrorInfo(),
        error_details_pb2.BadRequest(),
        error_details_pb2.RetryInfo(),
    )

    assert len(status.details) == 3
    assert status.details[0].Unpack(info)
    assert (info.reason, info.domain) == ("UNKNOWN_OPTION", DOMAIN)
    assert status.details[1].Unpack(request)
    assert [violation.field for violation in request.field_violations] == ["picks"]
    assert status.details[2].Unpack(retry)
    assert retry.retry_delay.ToMilliseconds() == 1500


def test_a_refusal_without_field_and_retry_has_neither_detail() -> None:
    assert len(ServiceError(Reason.GAME_NOT_FOUND, "no such game").to_status().details) == 1


def test_what_is_unavailable_says_when_to_come_back() -> None:
    assert ServiceError(Reason.STORE_UNAVAILABLE, "away").retry_after == 1.0
    assert ServiceError(Reason.STORE_UNAVAILABLE, "away", retry_after=0.5).retry_after == 0.5


def test_a_reason_of_a_later_version_is_not_taken_for_another() -> None:
    status = status_pb2.Status(code=grpc.StatusCode.NOT_FOUND.value[0], message="gone")
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason="LOST_AT_SEA", domain=DOMAIN))

    back = ServiceError.from_status(status)

    assert back.reason is Reason.INTERNAL
    assert "NOT_FOUND" in back.message


def test_long_texts_stay_within_the_limit_of_trailing_metadata() -> None:
    error = ServiceError(Reason.FIELD_TOO_LONG, "x" * 100_000, field="y" * 100_000, metadata={"z": "z" * 100_000})

    assert error.to_status().ByteSize() < 3000
    assert len(str(error)) < 600
    assert error.field is not None
    assert (len(error.field), error.field[-27:]) == (96, "yyyy... (100000 characters)")
    back = ServiceError.from_status(error.to_status())
    assert (back.message, back.metadata) == (error.message, error.metadata)


@pytest.mark.parametrize("reason", Reason)
def test_only_our_own_faults_are_internal(reason: Reason) -> None:
    assert (reason.code is grpc.StatusCode.INTERNAL) == (reason is Reason.INTERNAL)
    assert reason.code not in (grpc.StatusCode.OK, grpc.StatusCode.UNKNOWN)
