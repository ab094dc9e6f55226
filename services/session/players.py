"""The games of a player: an index under the player's own key, which is in another slot than the games.

No script can write both, so that the index follows the games: a new game is due to be indexed until that is done, by
whoever comes to it; as long as it goes on it is put there again at least daily; and whoever reads the index takes games
out that are gone, and ranks those that are over behind the others.
"""

from __future__ import annotations

import msgspec

from services.runtime.store import Store
from services.session.keys import GameKeys, player_list
from services.session.store import LOOK_MS, Seated, index_work, script

GAMES_MAX = 256
"""Most games of a player that are listed; of more, first those that are over and then the oldest are left out."""
GOES_ON = 1 << 42
"""Added to the rank of a game that goes on, which else is its time of creation in milliseconds since 1970."""


class PlayerIndex:
    def __init__(self, store: Store, *, finished_seconds: int) -> None:
        """
        Args:
            finished_seconds: how long a game can be looked at after its end.
        """
        self._store = store
        # A game that goes on touches the list once a day.
        self._kept_seconds = finished_seconds + 3 * LOOK_MS // 1000

    async def index(self, game: GameKeys) -> None:
        """Puts a game into the lists of its players, where it is not there. Due work too."""
        packed = await self._store.call("HGET", game.game, "players")
        if packed is not None:
            seated = msgspec.msgpack.decode(packed, type=Seated)
            for seat, player_id in enumerate(seated.players):
                if player_id:
                    await self._enlist(player_id, f"{game.id} {seat} {seated.game}", seated.created_ms)
        await self._store.call("ZREM", game.due, index_work(game))

    async def _enlist(self, player_id: str, member: str, created_ms: int) -> None:
        await self._store.run(
            _ENLIST, [player_list(player_id)], [member, created_ms + GOES_ON, GAMES_MAX, self._kept_seconds]
        )


_ENLIST = script("enlist")
