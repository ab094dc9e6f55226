"""Reads a player's wish: each field within its bounds, and a game that can be played that way."""

from roundtable.matchmaking.v1 import matchmaking_pb2
from roundtable.table.v1 import table_pb2
from services.matchmaking.catalogue import Games
from services.matchmaking.pools import Pool
from services.runtime.errors import Reason, ServiceError

_LONGEST_ID = 64
_LONGEST_GAME = 32
_SHORTEST_REQUEST_ID = 16
_MOST_OPTIONS = 32

NOT_LISTED = frozenset(
    {Reason.UNKNOWN_GAME, Reason.SEATS_OUT_OF_RANGE, Reason.UNKNOWN_GAME_OPTION, Reason.GAME_OPTION_VALUE}
)
"""Why a wish is refused that a newer list of games may allow."""


def check_fields(request: matchmaking_pb2.CreateTicketRequest, *, allow_seeds: bool) -> None:
    """Checks what needs no list of games.

    Raises:
        ServiceError: FIELD_MISSING, FIELD_INVALID, FIELD_TOO_LONG, SEEDS_NOT_ALLOWED.
    """
    check_text("request_id", request.request_id, _LONGEST_ID)
    if len(request.request_id) < _SHORTEST_REQUEST_ID:
        raise ServiceError(
            Reason.FIELD_INVALID,
            f"request_id has {len(request.request_id)} characters; at least {_SHORTEST_REQUEST_ID} are needed",
            field="request_id",
        )
    check_text("player_id", request.player_id, _LONGEST_ID)
    check_text("game", request.game, _LONGEST_GAME)
    if len(request.options) > _MOST_OPTIONS:
        raise ServiceError(
            Reason.FIELD_TOO_LONG, f"{len(request.options)} options; at most {_MOST_OPTIONS}", field="options"
        )
    if request.HasField("seed") and not allow_seeds:
        raise ServiceError(Reason.SEEDS_NOT_ALLOWED, "this server allows no fixed seeds", field="seed")


def check_ticket_id(ticket_id: str) -> None:
    """
    Raises:
        ServiceError: FIELD_MISSING, FIELD_TOO_LONG.
    """
    check_text("ticket_id", ticket_id, _LONGEST_ID)


def check_text(field: str, text: str, longest: int) -> None:
    if not text:
        raise ServiceError(Reason.FIELD_MISSING, f"{field} is missing", field=field)
    if len(text) > longest:
        raise ServiceError(Reason.FIELD_TOO_LONG, f"{field} has {len(text)} characters; at most {longest}", field=field)


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
