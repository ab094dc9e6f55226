"""Calls that are for operators only."""

from __future__ import annotations

from hmac import compare_digest

from pydantic import SecretStr

from services.runtime.errors import Reason, ServiceError
from services.runtime.interceptors import Context

_SCHEME = "Bearer "


class Operators:
    """Knows operators by a token in the metadata of their calls."""

    def __init__(self, token: SecretStr | None) -> None:
        self._token = token

    def check(self, context: Context) -> None:
        """Lets an operator's call pass.

        Raises:
            ServiceError: OPERATOR_TOKEN_REQUIRED, OPERATOR_TOKEN_INVALID (also where no token opens these calls).
        """
        given = next((value for key, value in context.invocation_metadata() or () if key == "authorization"), None)
        if given is None:
            raise ServiceError(Reason.OPERATOR_TOKEN_REQUIRED, "this call is for operators; give their token")
        text = given.decode("latin-1") if isinstance(given, bytes) else given
        expected = None if self._token is None else self._token.get_secret_value()
        if expected is None or not compare_digest(text.encode(), (_SCHEME + expected).encode()):
            raise ServiceError(Reason.OPERATOR_TOKEN_INVALID, "this token does not open the calls for operators")
