"""The process behind: it knows the answer to every call from a recording.

python -m loadtests.bare.back RECORDING
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import grpc
import msgspec
from grpc import aio

from loadtests.bare.serving import serve
from loadtests.recording import Canned
from roundtable.engine.v1 import engine_pb2 as engine
from services.runtime.settings import Settings

SERVICE = "roundtable.bare.Back"
NEW_GAME = f"/{SERVICE}/NewGame"
RESOLVE = f"/{SERVICE}/Resolve"


def main(recording: Path) -> None:
    canned = msgspec.msgpack.decode(recording.read_bytes(), type=Canned)
    openings = {seed: engine.NewGameResponse.FromString(opening) for seed, opening in canned.openings.items()}
    steps = {state: engine.ResolveResponse.FromString(step) for state, step in canned.steps.items()}

    async def new_game(request: engine.NewGameRequest, _context: object) -> engine.NewGameResponse:
        return openings[request.seed]

    async def resolve(request: engine.ResolveRequest, _context: object) -> engine.ResolveResponse:
        return steps[request.state]

    def add(server: aio.Server, _settings: Settings) -> None:
        methods: dict[str, Any] = {
            "NewGame": grpc.unary_unary_rpc_method_handler(
                new_game,
                request_deserializer=engine.NewGameRequest.FromString,
                response_serializer=engine.NewGameResponse.SerializeToString,
            ),
            "Resolve": grpc.unary_unary_rpc_method_handler(
                resolve,
                request_deserializer=engine.ResolveRequest.FromString,
                response_serializer=engine.ResolveResponse.SerializeToString,
            ),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, methods),))

    serve("bare-back", add)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
