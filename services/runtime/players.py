"""The development verifier: who a player is, by a token that whoever holds the key makes from the player's id.

It stands where a host's own identity will be checked. Tokens last as long as the key.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import blake2b
from hmac import compare_digest

from services.runtime.errors import Reason, ServiceError
from services.runtime.settings import Settings


def player_token(key: str, player_id: str) -> str:
    """The token of a player: BLAKE2b-256 of the id, keyed with the BLAKE2b-256 digest of the key; 43 characters."""
    digest = blake2b(player_id.encode(), key=blake2b(key.encode(), digest_size=32).digest(), digest_size=32).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


def check_player(settings: Settings, player_id: str, token: str) -> None:
    """
    Raises:
        ServiceError: PLAYER_TOKEN_INVALID; PLAYER_TOKENS_OFF, if the settings have no key.
    """
    if settings.player_key is None:
        raise ServiceError(Reason.PLAYER_TOKENS_OFF, "this server does not know players: it has no player_key")
    expected = player_token(settings.player_key.get_secret_value(), player_id)
    if not compare_digest(expected.encode(), token.encode()):
        raise ServiceError(Reason.PLAYER_TOKEN_INVALID, "this is not the token of this player", field="player_token")
