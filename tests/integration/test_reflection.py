"""A client that has no code of the contracts learns them from the services."""

from __future__ import annotations

import asyncio

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc import aio
from grpc_reflection.v1alpha import reflection_pb2

from services.runtime.processes import Processes
from services.runtime.server import Ready
from services.runtime.settings import Settings
from tests.integration.seats import SECONDS, client_of


async def described(address: str, message: str) -> DescriptorPool:
    """What a service tells of a message and of the files that it needs."""
    async with aio.insecure_channel(address) as channel:
        info: aio.StreamStreamMultiCallable[
            reflection_pb2.ServerReflectionRequest, reflection_pb2.ServerReflectionResponse
        ] = channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
            response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
        )
        asked = reflection_pb2.ServerReflectionRequest(file_containing_symbol=message)
        (answer,) = [each async for each in info(iter([asked]), timeout=SECONDS)]
    assert not answer.HasField("error_response"), answer.error_response
    pool = DescriptorPool()
    files = [
        descriptor_pb2.FileDescriptorProto.FromString(each)
        for each in answer.file_descriptor_response.file_descriptor_proto
    ]
    for file in reversed(files):
        pool.Add(file)
    return pool


async def test_the_session_service_tells_how_a_games_messages_are_read(sessions: tuple[Ready, Ready]) -> None:
    async with client_of(sessions[0].address) as [session]:
        seats = await session.create(seats=5)
        packed = (await session.view(seats.game_id, seats.tokens[0])).view.detail
    name = packed.type_url.rpartition("/")[2]

    pool = await described(sessions[0].address, name)
    view = GetMessageClass(pool.FindMessageTypeByName(name)).FromString(packed.value)

    assert name == "roundtable.camelot.v1.View"
    assert len(view.knights) == 5  # type: ignore[attr-defined]


@pytest.mark.parametrize("service", ["engine", "matchmaking"])
async def test_other_services_tell_it_too(
    service: str, processes: Processes, settings: Settings, sessions: tuple[Ready, Ready]
) -> None:
    settings = settings.model_copy(update={"session_address": sessions[0].address})
    ready = await asyncio.to_thread(processes.serve, service, settings)

    pool = await described(ready.address, "roundtable.camelot.v1.View")

    assert pool.FindMessageTypeByName("roundtable.camelot.v1.View").full_name == "roundtable.camelot.v1.View"
