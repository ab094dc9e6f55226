"""The contract of games in play."""

from __future__ import annotations

from typing import Any

import grpc
from grpc import aio

from roundtable.engine.v1 import engine_pb2
from roundtable.session.v1 import session_pb2
from services.runtime import fields
from services.runtime.errors import Reason, ServiceError
from services.runtime.interceptors import Context
from services.runtime.logging import bind_call, get_logger
from services.runtime.players import check_player
from services.runtime.settings import Settings
from services.session import wire
from services.session.creation import Creation
from services.session.cursors import encode_cursor
from services.session.joining import Joining
from services.session.keys import GameKeys, find_game
from services.session.listing import PAGE_DEFAULT, PAGE_MAX, Listing
from services.session.moves import Moves
from services.session.records import Records
from services.session.requests import request_of
from services.session.talk import Talk
from services.session.views import Views
from services.session.watching import Watches

FULL_NAME = session_pb2.DESCRIPTOR.services_by_name["SessionService"].full_name

_log = get_logger()


class SessionService:
    """The methods of the contract; responses are encoded."""

    def __init__(
        self,
        creation: Creation,
        moves: Moves,
        views: Views,
        watches: Watches,
        records: Records,
        listing: Listing,
        talk: Talk,
        joining: Joining,
        settings: Settings,
    ) -> None:
        self._creation = creation
        self._moves = moves
        self._views = views
        self._watches = watches
        self._records = records
        self._talk = talk
        self._joining = joining
        self._listing = listing
        self._settings = settings

    def add_to(self, server: aio.Server) -> None:
        """As the generated function does, but for the encoding: what the engine and the store hand over encoded, which
        is nearly everything, goes out as it is."""
        make: Any = grpc  # whose types know only the handlers of the synchronous server
        handlers = {
            "CreateGame": make.unary_unary_rpc_method_handler(
                self.create_game, request_deserializer=session_pb2.CreateGameRequest.FromString
            ),
            "Choose": make.unary_unary_rpc_method_handler(
                self.choose, request_deserializer=session_pb2.ChooseRequest.FromString
            ),
            "GetView": make.unary_unary_rpc_method_handler(
                self.get_view, request_deserializer=session_pb2.GetViewRequest.FromString
            ),
            "Watch": make.unary_stream_rpc_method_handler(
                self.watch, request_deserializer=session_pb2.WatchRequest.FromString
            ),
            "SetStandingOrders": make.unary_unary_rpc_method_handler(
                self.set_standing_orders, request_deserializer=session_pb2.SetStandingOrdersRequest.FromString
            ),
            "Explain": make.unary_unary_rpc_method_handler(
                self.explain, request_deserializer=session_pb2.ExplainRequest.FromString
            ),
            "GetRecord": make.unary_unary_rpc_method_handler(
                self.get_record, request_deserializer=session_pb2.GetRecordRequest.FromString
            ),
            "ListDeclarations": make.unary_unary_rpc_method_handler(
                self.list_declarations, request_deserializer=session_pb2.ListDeclarationsRequest.FromString
            ),
            "Say": make.unary_unary_rpc_method_handler(
                self.say, request_deserializer=session_pb2.SayRequest.FromString
            ),
            "Join": make.unary_unary_rpc_method_handler(
                self.join, request_deserializer=session_pb2.JoinRequest.FromString
            ),
            "Leave": make.unary_unary_rpc_method_handler(
                self.leave, request_deserializer=session_pb2.LeaveRequest.FromString
            ),
            "ListGames": make.unary_unary_rpc_method_handler(
                self.list_games, request_deserializer=session_pb2.ListGamesRequest.FromString
            ),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(FULL_NAME, handlers),))

    async def create_game(self, request: session_pb2.CreateGameRequest, context: Context) -> bytes:
        fields.check_text("request_id", request.request_id, fields.ID_MAX, fields.CREATE_REQUEST_ID_MIN)
        fields.check_text("game", request.game, fields.GAME_MAX)
        fields.check_game_options(request.options)
        fields.check_player_ids(request.player_ids, request.seats)
        created = await self._creation.create(request)
        _log.info("game created", game_id=created.game_id, game=request.game, seats=request.seats)
        return created.SerializeToString()

    async def choose(self, request: session_pb2.ChooseRequest, context: Context) -> bytes:
        game = _game(request.game_id)
        _check_seat_token(request.seat_token)
        fields.check_text("decision_id", request.decision_id, fields.ID_MAX)
        fields.check_picks(request.picks)
        fields.check_text("request_id", request.request_id, fields.ID_MAX)
        picks = list(request.picks)

        def answer(state: bytes, seat: int) -> engine_pb2.ResolveRequest:
            return engine_pb2.ResolveRequest(
                state=state, answer=engine_pb2.Answer(seat=seat, decision=request.decision_id, picks=picks)
            )

        asked = request_of(request.seat_token, request.request_id, ("choose", request.decision_id, picks))
        update = await self._moves.make(game, asked, answer)
        return wire.field(session_pb2.ChooseResponse, "update", update)

    async def set_standing_orders(self, request: session_pb2.SetStandingOrdersRequest, context: Context) -> bytes:
        game = _game(request.game_id)
        _check_seat_token(request.seat_token)
        fields.check_text("request_id", request.request_id, fields.ID_MAX)
        fields.check_orders(request.orders)
        orders = dict(request.orders)

        def set_orders(state: bytes, seat: int) -> engine_pb2.ResolveRequest:
            return engine_pb2.ResolveRequest(
                state=state, standing_orders=engine_pb2.StandingOrders(seat=seat, orders=orders)
            )

        asked = request_of(request.seat_token, request.request_id, ("orders", sorted(orders.items())))
        update = await self._moves.make(game, asked, set_orders)
        return wire.field(session_pb2.SetStandingOrdersResponse, "update", update)

    async def get_view(self, request: session_pb2.GetViewRequest, context: Context) -> bytes:
        game = _game(request.game_id)
        look = await self._views.look(game, _optional_seat_token(request))
        view = await self._views.view(look)
        response = session_pb2.GetViewResponse(
            view=view.view, update=view.update, cursor=encode_cursor(game.id, look.cursor)
        )
        return response.SerializeToString()

    async def watch(self, request: session_pb2.WatchRequest, context: Context) -> None:
        game = _game(request.game_id)
        after = request.after if request.HasField("after") else None
        await self._watches.watch(
            game, _optional_seat_token(request), after, context.write, shown=request.show_presence
        )

    async def explain(self, request: session_pb2.ExplainRequest, context: Context) -> bytes:
        game = _game(request.game_id)
        _check_seat_token(request.seat_token)
        fields.check_text("candidate", request.candidate, fields.OPTION_MAX)
        look = await self._views.look(game, request.seat_token)
        found = await self._views.explain(look, request.candidate)
        response = session_pb2.ExplainResponse(offered=found.offered, rule=found.rule, condition=found.condition)
        return response.SerializeToString()

    async def get_record(self, request: session_pb2.GetRecordRequest, context: Context) -> bytes:
        game = _game(request.game_id)
        look = await self._views.look(game, _optional_seat_token(request))
        record = await self._records.record(game, look)
        return session_pb2.GetRecordResponse(record=record).SerializeToString()

    async def list_games(self, request: session_pb2.ListGamesRequest, context: Context) -> bytes:
        fields.check_text("player_id", request.player_id, fields.ID_MAX)
        fields.check_text("player_token", request.player_token, fields.ID_MAX)
        if request.page_size > PAGE_MAX:
            raise ServiceError(Reason.FIELD_INVALID, f"page_size is above {PAGE_MAX}", field="page_size")
        if request.page_token:
            fields.check_text("page_token", request.page_token, fields.PAGE_TOKEN_MAX)
        check_player(self._settings, request.player_id, request.player_token)
        page = await self._listing.page(request.player_id, request.page_size or PAGE_DEFAULT, request.page_token)
        return page.SerializeToString()

    async def list_declarations(self, request: session_pb2.ListDeclarationsRequest, context: Context) -> bytes:
        game = _game(request.game_id)
        _check_seat_token(request.seat_token)
        look = await self._views.look(game, request.seat_token)
        declarations = await self._talk.offered(look)
        return session_pb2.ListDeclarationsResponse(declarations=declarations).SerializeToString()

    async def say(self, request: session_pb2.SayRequest, context: Context) -> bytes:
        game = _game(request.game_id)
        _check_seat_token(request.seat_token)
        fields.check_text("declaration_id", request.declaration_id, fields.ID_MAX)
        fields.check_text("request_id", request.request_id, fields.ID_MAX)
        asked = request_of(request.seat_token, request.request_id, ("say", request.declaration_id))
        await self._talk.say(game, asked, request.declaration_id)
        return session_pb2.SayResponse().SerializeToString()

    async def join(self, request: session_pb2.JoinRequest, context: Context) -> bytes:
        game = _game(request.game_id)
        fields.check_text("join_token", request.join_token, fields.ID_MAX)
        fields.check_text("request_id", request.request_id, fields.ID_MAX, fields.CREATE_REQUEST_ID_MIN)
        joined = await self._joining.join(game, request.join_token, request.request_id)
        _log.info("joined", game_id=game.id, seat=joined.seat)
        return joined.SerializeToString()

    async def leave(self, request: session_pb2.LeaveRequest, context: Context) -> bytes:
        game = _game(request.game_id)
        _check_seat_token(request.seat_token)
        fields.check_text("request_id", request.request_id, fields.ID_MAX)

        def leave(state: bytes, seat: int) -> engine_pb2.ResolveRequest:
            return engine_pb2.ResolveRequest(state=state, leave=engine_pb2.Leave(seat=seat))

        asked = request_of(request.seat_token, request.request_id, ("leave",))
        update = await self._moves.make(game, asked, leave, leaving=True)
        return wire.field(session_pb2.LeaveResponse, "update", update)


def _game(game_id: str) -> GameKeys:
    fields.check_text("game_id", game_id, fields.ID_MAX)
    game = find_game(game_id)
    bind_call(game_id=game.id)
    return game


def _check_seat_token(seat_token: str) -> None:
    if not seat_token:
        raise ServiceError(Reason.SEAT_TOKEN_REQUIRED, "only a seat can do this; give its token", field="seat_token")
    fields.check_text("seat_token", seat_token, fields.ID_MAX)


def _optional_seat_token(
    request: session_pb2.GetViewRequest | session_pb2.WatchRequest | session_pb2.GetRecordRequest,
) -> str | None:
    if not request.HasField("seat_token"):
        return None
    # An empty one is a seat that has lost its token, not a spectator.
    if request.seat_token:
        fields.check_text("seat_token", request.seat_token, fields.ID_MAX)
    return request.seat_token
