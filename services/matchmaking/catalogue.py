"""The games there are, as the engine lists them."""

import asyncio
import time
from collections.abc import Mapping, Sequence

from grpc import aio

from roundtable.engine.v1 import engine_pb2, engine_pb2_grpc
from roundtable.table.v1 import table_pb2
from services.runtime.errors import Reason, ServiceError
from services.runtime.interceptors import outgoing_metadata
from services.runtime.logging import get_logger

Games = Mapping[str, table_pb2.GameInfo]

_CALL_SECONDS = 2.0
_FRESH_SECONDS = 60.0
# What is not on the list may be on a newer one, but the engine is not asked more often than this.
_LEAST_SECONDS = 1.0

_log = get_logger()


class Catalogue:
    """The engine's list, kept for a minute, and longer while no engine answers."""

    def __init__(self, channels: Sequence[aio.Channel]) -> None:
        """
        Args:
            channels: to the engine's replicas, which all answer alike.
        """
        self._engines = [engine_pb2_grpc.EngineServiceStub(channel) for channel in channels]
        self._games: Games | None = None
        self._asked = 0.0
        self._asking = asyncio.Lock()

    async def games(self) -> Games:
        """By id.

        Raises:
            ServiceError: ENGINE_UNAVAILABLE, if no list was ever had.
        """
        return await self._not_older_than(_FRESH_SECONDS)

    async def newer_games(self) -> Games:
        """As `games`, but asked for again if the list is older than a second."""
        return await self._not_older_than(_LEAST_SECONDS)

    async def _not_older_than(self, seconds: float) -> Games:
        async with self._asking:
            if self._games is not None and time.monotonic() - self._asked < seconds:
                return self._games
            try:
                self._games = await self._ask()
            except ServiceError as error:
                if self._games is None:
                    raise
                _log.warning("an old list of games is used", reason=error.reason)
            self._asked = time.monotonic()
            return self._games

    async def _ask(self) -> Games:
        failure = ServiceError(Reason.ENGINE_UNAVAILABLE, "there is no engine")
        for engine in self._engines:
            try:
                response = await engine.ListGames(
                    engine_pb2.ListGamesRequest(), timeout=_CALL_SECONDS, metadata=outgoing_metadata()
                )
            except aio.AioRpcError as error:
                failure = ServiceError.from_rpc_error(error, Reason.ENGINE_UNAVAILABLE)
            else:
                return {game.id: game for game in response.games}
        raise failure
