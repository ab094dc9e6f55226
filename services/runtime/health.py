"""The standard health service, refusing in our way."""

from __future__ import annotations

from grpc_health.v1 import health, health_pb2

from services.runtime.errors import Reason, ServiceError
from services.runtime.interceptors import Context


class Health(health.aio.HealthServicer):
    """Knows the server as a whole, under the empty name, and each of its services by its full name."""

    def __init__(self) -> None:
        super().__init__()
        self._names = {""}

    async def set(self, service: str, status: int) -> None:
        self._names.add(service)
        await super().set(service, status)

    async def Check(self, request: health_pb2.HealthCheckRequest, context: Context) -> health_pb2.HealthCheckResponse:
        """
        Raises:
            ServiceError: UNKNOWN_SERVICE.
        """
        if request.service not in self._names:
            raise ServiceError(Reason.UNKNOWN_SERVICE, "this server has no such service", field="service")
        return await super().Check(request, context)
