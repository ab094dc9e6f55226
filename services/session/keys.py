"""Ids of games, and the names of what a game keeps in the store."""

from __future__ import annotations

import re
from base64 import b32encode
from dataclasses import dataclass
from hashlib import blake2b

from services.runtime.errors import Reason, ServiceError

BUCKETS = 256
"""Fixed for ever: a game's keys are found by its bucket."""

_DIGEST_BYTES = 15  # 24 characters in base 32, without padding
_GAME_ID = re.compile(r"b(0|[1-9]\d{0,2})-([a-z2-7]{24})", re.ASCII)


@dataclass(frozen=True, slots=True)
class GameKeys:
    """The names of one game.

    All keys of a game, and the channel and the sets that the games of its bucket share, carry the bucket as hash tag:
    they lie on one node of a cluster, so that one script may touch them all.
    """

    id: str
    bucket: int

    @property
    def game(self) -> str:
        """A hash: the table and what is needed to answer for it."""
        return f"{_tag(self.bucket)}:{self.id}"

    @property
    def log(self) -> str:
        """A list: the table's inputs."""
        return f"{_tag(self.bucket)}:{self.id}:log"

    @property
    def feed(self) -> str:
        """A stream: the last entries of the feed; the first part of an entry's id is its position."""
        return f"{_tag(self.bucket)}:{self.id}:feed"

    @property
    def due(self) -> str:
        return due_set(self.bucket)

    @property
    def wake(self) -> str:
        return wake_channel(self.bucket)


def wake_channel(bucket: int) -> str:
    """The sharded channel that gets the id of a game of this bucket whenever its feed grows."""
    return f"{_tag(bucket)}:wake"


def due_set(bucket: int) -> str:
    """The sorted set of what is to be done about the games of this bucket, by when in milliseconds since 1970."""
    return f"{_tag(bucket)}:due"


def shown_set(bucket: int, process: str) -> str:
    """The set of the seats of this bucket's games that a process shows as connected."""
    return f"{_tag(bucket)}:shown:{process}"


def player_list(player_id: str) -> str:
    """The sorted set of a player's games. By a digest, as names of keys get into logs and an id can tell who it is."""
    digest = blake2b(player_id.encode(), digest_size=_DIGEST_BYTES + 1, person=b"player").hexdigest()
    return f"{{p{digest}}}:games"


def new_game(request_id: str) -> GameKeys:
    """The game that a request to create one makes: the same request, the same game.

    The id is a digest, as it is public and the request id, which opens the seats, is not.
    """
    digest = blake2b(request_id.encode(), digest_size=_DIGEST_BYTES + 1, person=b"game id").digest()
    return GameKeys(f"b{digest[0]}-{b32encode(digest[1:]).decode().lower()}", digest[0])


def find_game(game_id: str) -> GameKeys:
    """The names of the game with this id, if it exists.

    Raises:
        ServiceError: GAME_NOT_FOUND, for what cannot be the id of a game.
    """
    match = _GAME_ID.fullmatch(game_id)
    if match is None or int(match[1]) >= BUCKETS:
        raise game_not_found()
    return GameKeys(game_id, int(match[1]))


def game_not_found() -> ServiceError:
    return ServiceError(Reason.GAME_NOT_FOUND, "there is no such game", field="game_id")


def _tag(bucket: int) -> str:
    return f"{{b{bucket}}}"
