"""What may be said at any moment of any game: a proper list, which tells nothing."""

from __future__ import annotations

from random import Random

from engine.core.games import AnyGame
from tests.property.playing import every_size
from tests.property.test_secrecy import positions

LISTED_MAX = 256


@every_size
def test_what_may_be_said_follows_from_what_everybody_knows(game: AnyGame, seats: int) -> None:
    random = Random(f"talk {game.id} {seats}")
    for position in positions(game, seats, random):
        dealt, redealt = position.as_dealt(), position.redealt(None, random)
        assert game.turn(dealt.play) == game.turn(redealt.play)
        for seat in game.seats_of(dealt.play):
            listed = game.declarations(dealt.play, seat)
            assert listed == game.declarations(redealt.play, seat)
            ids = [each.id for each in listed]
            assert len(set(ids)) == len(ids) <= LISTED_MAX
            for each in listed:
                assert 1 <= len(each.id) <= 64
                assert not set(each.id) & set(" \n")
                assert 1 <= len(each.title) <= 120
                assert each.rule in game.rules
