"""Reads a player's wish: each field within its bounds, and a game that can be played that way."""

from roundtable.matchmaking.v1 import matchmaking_pb2
from roundtable.table.v1 import table_pb2
from services.matchmaking.catalogue import Games
from services.matchmaking.pools import Pool
from services.runtime import fields
from services.runtime.errors import Reason, ServiceError

NOT_LISTED = frozenset(
    {Reason.UNKNOWN_GAME, Reason.SEATS_OUT_OF_RANGE, Reason.UNKNOWN_GAME_OPTION, Reason.GAME_OPTION_VALUE}
)
"""Why a wish is refused that a newer list of games may allow."""


def check_fields(request: matchmaking_pb2.CreateTicketRequest, *, allow_seeds: bool) -> None:
    """Checks what needs no list of games.

    Raises:
        ServiceError: FIELD_MISSING, FIELD_INVALID, FIELD_TOO_LONG, SEEDS_NOT_ALLOWED.
    """
    fields.check_text("request_id", request.request_id, fields.ID_MAX, fields.CREATE_REQUEST_ID_MIN)
    fields.check_text("player_id", request.player_id, fields.ID_MAX)
    fields.check_text("game", request.game, fields.GAME_MAX)
    fields.check_game_options(request.options)
    if request.HasField("seed") and not allow_seeds:
        raise ServiceError(Reason.SEEDS_NOT_ALLOWED, "this server allows no fixed seeds", field="seed")


def check_ticket_id(ticket_id: str) -> None:
    """
    Raises:
        ServiceError: FIELD_MISSING, FIELD_TOO_LONG.
    """
    fields.check_text("ticket_id", ticket_id, fields.ID_MAX)


def pool_of(request: matchmaking_pb2.CreateTicketRequest, games: Games) -> Pool:
    """The pool in which the wish waits.

    Raises:
        ServiceError: one of `NOT_LISTED`.
    """
    game = games.get(request.game)
    if game is None:
        raise ServiceError(
            Reason.UNKNOWN_GAME, "no such game", field="game", metadata={"known": ",".join(sorted(games))}
        )
    if not game.min_seats <= request.seats <= game.max_seats:
        raise ServiceError(
            Reason.SEATS_OUT_OF_RANGE,
            f"{game.title} takes {game.min_seats} to {game.max_seats} seats",
            field="seats",
        )
    options = _complete(dict(request.options), game)
    return Pool(game.id, request.seats, options, request.seed if request.HasField("seed") else None)


def _complete(chosen: dict[str, str], game: table_pb2.GameInfo) -> tuple[tuple[str, str], ...]:
    known = {option.id: option for option in game.options}
    for option_id, value in sorted(chosen.items()):
        if option_id not in known:
            raise ServiceError(
                Reason.UNKNOWN_GAME_OPTION,
                f"{game.title} has no such option",
                field=f"options.{option_id}",
            )
        if value not in known[option_id].values:
            raise ServiceError(
                Reason.GAME_OPTION_VALUE,
                f"the option takes one of {', '.join(known[option_id].values)}",
                field=f"options.{option_id}",
            )
    return tuple((option_id, chosen.get(option_id, option.default)) for option_id, option in sorted(known.items()))
