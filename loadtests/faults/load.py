"""Many games at once, for as long as there are faults, and then to their ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from random import Random
from typing import IO

from grpc import aio

from clients.players import play_at_random
from clients.sdk import CallFailed, Seat
from clients.sdk.seat import new_request_id
from loadtests.faults.history import History, Line, Seated, read_history
from loadtests.faults.players import CHANNEL, Client, DifficultSeat
from roundtable.engine.v1 import engine_pb2 as engine
from roundtable.matchmaking.v1 import matchmaking_pb2 as matchmaking
from roundtable.session.v1 import session_pb2 as session
from roundtable.table.v1.table_pb2 import Update

GAME = "camelot"
SEATS = 5
_DEVICES = 20
"""Connections that players share."""
_SHORTEST_THOUGHT_SECONDS = 0.2
_LONGEST_THOUGHT_SECONDS = 1.0
_GAMES_A_SECOND = 20
"""How fast they begin."""


class Played:
    """One game and its clients."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.opening = engine.NewGameRequest(game=GAME, seats=SEATS, seed=seed)
        self.id = ""
        self.failures: list[str] = []
        """Why players gave up."""
        self._paths = [folder / f"{seed}-{player}.jsonl" for player in range(SEATS)]

    @asynccontextmanager
    async def histories(self) -> AsyncIterator[list[History]]:
        files = [History(path) for path in self._paths]
        try:
            yield files
        finally:
            # What the players have left behind is collected first: it still writes.
            await asyncio.sleep(0)
            for file in files:
                file.close()

    def seen(self) -> dict[str, list[Line]]:
        return {path.stem: read_history(path) for path in self._paths}


class Load:
    """Keeps a number of games going.

    Every second game is made by matchmaking out of tickets, the others by their first player, who hands out the seats.
    """

    def __init__(
        self, sessions: str, matchmaking: str, folder: Path, *, games: int, first_seed: int, random: Random
    ) -> None:
        """
        Args:
            sessions: gRPC target of the session service.
            matchmaking: gRPC target of matchmaking.
            folder: for the histories and for `errors.txt`, the text of every error.
        """
        self.played: list[Played] = []
        self.secrets: set[bytes] = set()
        """What nobody but the players may get to know."""
        self._folder = folder
        self._games = games
        self._seeds = count(first_seed)
        self._random = random
        self._hurried = asyncio.Event()
        self._targets = (sessions, matchmaking)
        self._devices: list[tuple[aio.Channel, aio.Channel]] = []
        self._errors: IO[str]

    async def play(self, seconds: float) -> None:
        """Plays for so long, thinking before each move, and then without thought until all games are finished."""
        over = time.monotonic() + seconds
        sessions, matchmaking = self._targets
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "errors.txt").open("w", encoding="utf-8") as self._errors:
            self._devices = [
                (aio.insecure_channel(sessions, CHANNEL), aio.insecure_channel(matchmaking, CHANNEL))
                for _ in range(_DEVICES)
            ]
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._hurry(seconds))
                    for number in range(self._games):
                        group.create_task(self._one_after_another(number / _GAMES_A_SECOND, over))
            finally:
                for channel in (channel for device in self._devices for channel in device):
                    await channel.close()

    async def _hurry(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self._hurried.set()

    async def _one_after_another(self, delay: float, over: float) -> None:
        await asyncio.sleep(delay)
        while time.monotonic() < over:
            seed = next(self._seeds)
            played = Played(seed, self._folder)
            self.played.append(played)
            async with played.histories() as histories:
                clients = [self._client(history) for history in histories]
                try:
                    await self._play(played, clients, matched=seed % 2 == 0)
                except CallFailed as error:
                    played.failures.append(str(error))

    def _client(self, history: History) -> Client:
        return Client(*self._random.choice(self._devices), history, lambda text: print(text, file=self._errors))

    async def _play(self, played: Played, clients: Sequence[Client], *, matched: bool) -> None:
        seats = await (self._by_tickets if matched else self._by_creation)(played, clients)
        for client, seat in zip(clients, seats, strict=True):
            client.history.add(Seated(seat.game_id, seat.number))
            self.secrets.add(seat.token.encode())
        played.id = seats[0].game_id
        players = [
            play_at_random(
                DifficultSeat(client, seat, self._own_random(), self._think), self._own_random(), saw=self._saw
            )
            for client, seat in zip(clients, seats, strict=True)
        ]
        for end in await asyncio.gather(*players, return_exceptions=True):
            if isinstance(end, CallFailed):
                played.failures.append(str(end))
            elif end is not None:
                raise end

    async def _by_tickets(self, played: Played, clients: Sequence[Client]) -> list[Seat]:
        async def seated(number: int, client: Client) -> Seat:
            request = matchmaking.CreateTicketRequest(
                request_id=new_request_id(),
                player_id=f"player-{number}",
                game=GAME,
                seats=SEATS,
                seed=played.opening.seed,
            )
            self.secrets.add(request.request_id.encode())
            ticket = await client.ticket(request)
            self.secrets.add(ticket.id.encode())
            return await ticket.seated()

        return list(await asyncio.gather(*(seated(number, client) for number, client in enumerate(clients))))

    async def _by_creation(self, played: Played, clients: Sequence[Client]) -> list[Seat]:
        request = session.CreateGameRequest(
            request_id=new_request_id(), game=GAME, seats=SEATS, seed=played.opening.seed, spectators=True
        )
        self.secrets.add(request.request_id.encode())
        created = await clients[0].game(request)
        return [
            Seat(client.caller, client.sessions, created.game_id, number, token, created.commitment)
            for number, (client, token) in enumerate(zip(clients, created.seat_tokens, strict=True))
        ]

    def _own_random(self) -> Random:
        return Random(self._random.random())

    async def _think(self) -> None:
        seconds = self._random.uniform(_SHORTEST_THOUGHT_SECONDS, _LONGEST_THOUGHT_SECONDS)
        try:
            async with asyncio.timeout(seconds):
                await self._hurried.wait()
        except TimeoutError:
            pass

    def _saw(self, update: Update) -> None:
        if update.HasField("reveal"):
            self.secrets.add(update.reveal.secret)
