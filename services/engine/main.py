"""Composes the engine service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from roundtable.engine.v1 import engine_pb2_grpc
from services.engine.service import EngineServicer
from services.runtime.server import Runtime

FULL_NAME = "roundtable.engine.v1.EngineService"


@asynccontextmanager
async def compose(runtime: Runtime) -> AsyncIterator[None]:
    servicer = EngineServicer(runtime.settings, runtime.metrics.registry)
    engine_pb2_grpc.add_EngineServiceServicer_to_server(servicer, runtime.server)
    yield
