"""The rules behind gRPC: stateless, as a table travels in every call."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from importlib import import_module
from time import perf_counter

import msgspec
from grpc import aio
from prometheus_client import CollectorRegistry, Counter, Histogram

from engine.catalogue import GAMES
from engine.core.chance import SECRET_BYTES, Seed
from engine.core.positions import read_text, to_text, write
from engine.core.records import texts
from engine.core.table import Input, InputKind, Step, Table
from engine.core.wire import Wire, commitment, game_info, reveal
from roundtable.engine.v1 import engine_pb2, engine_pb2_grpc
from services.engine.fields import check_input, check_origin, check_position, check_seat, check_state
from services.engine.operators import Operators
from services.engine.refusals import refusals
from services.runtime import fields
from services.runtime.errors import Reason, ServiceError
from services.runtime.interceptors import Context
from services.runtime.settings import Settings

WIRES: dict[str, Wire] = {game.id: import_module(f"engine.{game.id}.wire").WIRE for game in GAMES}
"""How each game's tables travel: every game has a module for it."""

_ANSWERS = {
    InputKind.ANSWER: engine_pb2.INPUT_KIND_ANSWER,
    InputKind.DEFAULT: engine_pb2.INPUT_KIND_DEFAULT_ANSWER,
    InputKind.ORDER: engine_pb2.INPUT_KIND_STANDING_ANSWER,
}

_OF_SEATS = {InputKind.LEAVE: engine_pb2.INPUT_KIND_LEAVE, InputKind.JOIN: engine_pb2.INPUT_KIND_JOIN}

_KINDS = {wire: kind for kind, wire in (_ANSWERS | _OF_SEATS).items()} | {
    engine_pb2.INPUT_KIND_STANDING_ORDERS: InputKind.ORDERS
}

_BUCKETS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1)


class EngineServicer(engine_pb2_grpc.EngineServiceServicer):
    """Every method works at once, in the event loop: a call takes some 100 microseconds and waits for nothing."""

    def __init__(self, settings: Settings, registry: CollectorRegistry) -> None:
        self._allow_seeds = settings.allow_seeds
        self._operators = Operators(settings.operator_token)
        # A stream is one call to the server's own metrics, however many inputs it carries.
        self._resolved = Counter(
            "roundtable_engine_inputs",
            "Inputs that were resolved, by the reason of their refusal (empty if accepted).",
            ["reason"],
            registry=registry,
        )
        self._duration = Histogram(
            "roundtable_engine_input_seconds", "Time to resolve an input.", buckets=_BUCKETS, registry=registry
        )

    async def ListGames(self, request: engine_pb2.ListGamesRequest, context: Context) -> engine_pb2.ListGamesResponse:
        return engine_pb2.ListGamesResponse(games=sorted(map(game_info, GAMES), key=lambda game: game.id))

    async def NewGame(self, request: engine_pb2.NewGameRequest, context: Context) -> engine_pb2.NewGameResponse:
        with refusals():
            fields.check_text("game", request.game, fields.GAME_MAX)
            fields.check_game_options(request.options)
            game = GAMES.get(request.game)
            table, step = Table.new(game, request.seats, request.options, self._seed(request))
            response = engine_pb2.NewGameResponse(commitment=commitment(table), origin=table.origin(request.seats))
            fill(response.resolved, table, step)
        return response

    def _seed(self, request: engine_pb2.NewGameRequest) -> Seed:
        contributions = tuple(request.contributions)
        if not request.HasField("seed"):
            return Seed(secrets.token_bytes(SECRET_BYTES), contributions)
        if not self._allow_seeds:
            raise ServiceError(Reason.SEEDS_NOT_ALLOWED, "this server makes no games from fixed seeds", field="seed")
        return msgspec.structs.replace(Seed.fixed(request.seed), contributions=contributions)

    async def Resolve(  # type: ignore[override]  # the stubs know only handlers that yield
        self, requests: AsyncIterator[engine_pb2.ResolveRequest], context: Context
    ) -> None:
        """Reads by itself instead of iterating, as an iterator would end with the first message it cannot decode."""
        while True:
            try:
                request = await context.read()
            except ServiceError as error:
                await context.write(engine_pb2.ResolveResponse(error=error.to_status()))
                continue
            if request is aio.EOF:
                return
            await context.write(self._resolve(request))

    def _resolve(self, request: engine_pb2.ResolveRequest) -> engine_pb2.ResolveResponse:
        started = perf_counter()
        response = engine_pb2.ResolveResponse(call=request.call)
        reason = ""
        try:
            with refusals():
                table = load(request.state)
                fill(response.resolved, table, apply(table, request))
        except ServiceError as error:
            reason = error.reason
            response.error.CopyFrom(error.to_status())
        self._resolved.labels(reason).inc()
        self._duration.observe(perf_counter() - started)
        return response

    async def View(self, request: engine_pb2.ViewRequest, context: Context) -> engine_pb2.ViewResponse:
        with refusals():
            table = load(request.state)
            wire = WIRES[table.game.id]
            seat = request.seat if request.HasField("seat") else None
            update = wire.update(table)
            if seat is not None:
                check_seat(table, seat)
                wire.add_private(update, table, seat)
            return engine_pb2.ViewResponse(view=wire.view(table, seat), update=update, digest=table.history)

    async def Replay(self, request: engine_pb2.ReplayRequest, context: Context) -> engine_pb2.ReplayResponse:
        with refusals():
            check_origin(request.origin)
            table, seats, options, digests = Table.replay(GAMES, request.origin, map(given, request.inputs))
            response = engine_pb2.ReplayResponse(
                digests=digests,
                game=table.game.id,
                rules_version=str(table.game.rules_version),
                seats=seats,
                options=texts(options),
                commitment=commitment(table),
                reveal=reveal(table),
            )
            fill(response.resolved, table, Step([], []))
        return response

    async def Explain(self, request: engine_pb2.ExplainRequest, context: Context) -> engine_pb2.ExplainResponse:
        with refusals():
            fields.check_text("candidate", request.candidate, fields.OPTION_MAX)
            table = load(request.state)
            found = table.explain(request.seat, request.candidate)
            if not found.known:
                raise ServiceError(
                    Reason.UNKNOWN_OPTION, "no such candidate belongs to this decision", field="candidate"
                )
            condition = "" if found.offered else table.game.rules[found.rule].title
            return engine_pb2.ExplainResponse(offered=found.offered, rule=found.rule, condition=condition)

    async def ImportPosition(
        self, request: engine_pb2.ImportPositionRequest, context: Context
    ) -> engine_pb2.ImportPositionResponse:
        self._operators.check(context)
        with refusals():
            check_position(request.position)
            table = read_text(GAMES, request.position)
            response = engine_pb2.ImportPositionResponse(commitment=commitment(table))
            fill(response.resolved, table, Step([], []))
        return response

    async def ExportPosition(
        self, request: engine_pb2.ExportPositionRequest, context: Context
    ) -> engine_pb2.ExportPositionResponse:
        self._operators.check(context)
        with refusals():
            return engine_pb2.ExportPositionResponse(position=to_text(write(load(request.state))))

    async def ListDeclarations(
        self, request: engine_pb2.ListDeclarationsRequest, context: Context
    ) -> engine_pb2.ListDeclarationsResponse:
        with refusals():
            table = load(request.state)
            check_seat(table, request.seat)
            if table.outcome is not None:
                raise ServiceError(Reason.GAME_OVER, "the game is over")
            wire = WIRES[table.game.id]
            return engine_pb2.ListDeclarationsResponse(
                declarations=map(wire.declaration, table.game.declarations(table.play, request.seat)),
                turn=table.game.turn(table.play),
            )


def load(state: bytes) -> Table:
    check_state(state)
    return Table.load(GAMES, state)


def apply(table: Table, request: engine_pb2.ResolveRequest) -> Step:
    """Gives the table the request's input."""
    match check_input(request.WhichOneof("input")):
        case "answer":
            answer = request.answer
            fields.check_text("decision", answer.decision, fields.ID_MAX)
            fields.check_picks(answer.picks)
            return table.answer(answer.seat, answer.decision, answer.picks)
        case "default_answer":
            default = request.default_answer
            fields.check_text("decision", default.decision, fields.ID_MAX)
            return table.answer_default(default.seat, default.decision)
        case "leave":
            return table.leave(request.leave.seat)
        case "join":
            return table.join()
        case _:
            standing = request.standing_orders
            fields.check_orders(standing.orders)
            return table.set_orders(standing.seat, standing.orders)


def fill(resolved: engine_pb2.Resolved, table: Table, step: Step) -> None:
    """Puts a table after a step, and the step as each seat may see it, into a message."""
    wire = WIRES[table.game.id]
    resolved.state = table.save()
    resolved.version = table.version
    resolved.digest = table.history
    resolved.inputs.extend(map(logged, step.inputs))
    public = wire.update(table, step.told)
    resolved.public.CopyFrom(public)
    for seat in table.game.seats_of(table.play):
        update = resolved.seats[seat]
        update.CopyFrom(public)
        wire.add_private(update, table, seat, step.told)


def logged(given: Input) -> engine_pb2.LoggedInput:
    """An input as a game's log keeps it."""
    if given.kind is InputKind.ORDERS:
        return engine_pb2.LoggedInput(
            kind=engine_pb2.INPUT_KIND_STANDING_ORDERS, seat=given.seat, orders=dict(given.orders)
        )
    if given.kind in _OF_SEATS:
        return engine_pb2.LoggedInput(kind=_OF_SEATS[given.kind], seat=given.seat)
    return engine_pb2.LoggedInput(
        kind=_ANSWERS[given.kind], seat=given.seat, decision=str(given.ask), picks=given.picks
    )


def given(logged: engine_pb2.LoggedInput) -> Input:
    """The input that a game's log keeps."""
    kind = _KINDS.get(logged.kind)
    if kind is None:
        raise ServiceError(Reason.FIELD_INVALID, "an input of no kind", field="inputs")
    if kind is InputKind.ORDERS:
        return Input(kind, logged.seat, orders=tuple(sorted(logged.orders.items())))
    if kind in _OF_SEATS:
        return Input(kind, logged.seat)
    if not (logged.decision.isascii() and logged.decision.isdigit()):
        raise ServiceError(Reason.FIELD_INVALID, "an input that answers no decision", field="inputs")
    return Input(kind, logged.seat, int(logged.decision), tuple(logged.picks))
