"""Situations rich in secrets: nobody tells two deals apart that look alike to him, until a rule reveals something."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from engine.core.table import Table
from tests.property.secrecy import Position, leaks
from tests.unit.camelot.situations import game_of, knight, situation, state_of

FACE_DOWN = {"card": "black_knight_7", "face_down": True, "seen": [1]}
COURT = (
    knight("kay", "fight_3 merlin*2 fate", place="black_knight"),
    knight("percival", "merlin grail*2 clairvoyance"),
    knight("arthur", "messenger fight_1*3", traitor=True),
    knight("tristan", "convocation reinforcements fight_5"),
)


def duel() -> Table:
    """The Black Knight is one card short of an end on either side, with cards face down."""
    return situation(
        *COURT,
        phase="heroic",
        black_knight={
            "white": [["fight_3"], ["fight_4", "fight_4"]],
            "black": [
                FACE_DOWN,
                {"card": "black_knight_1"},
                {"card": "black_knight_3", "face_down": True, "seen": [3]},
            ],
        },
        relics={"excalibur": 1},
        engines=7,
    )


def black_card_next(card: str, **facts: Any) -> Table:
    return situation(*COURT, black_top=card, active=1, engines=3, **facts)


SITUATIONS: dict[str, Callable[[], Table]] = {
    "duel in the heroic phase": duel,
    "fourth black knight": lambda: black_card_next(
        "black_knight_5",
        black_knight={"white": [["fight_4", "fight_4"]], "black": [FACE_DOWN] + [{"card": "black_knight_1"}] * 2},
        relics={"excalibur": 2},
    ),
    "armor": lambda: black_card_next("mordred despair picts", relics={"lancelots_armor": 1}),
    "three merlins": lambda: black_card_next("morgan_three_draws despair guinevere picts"),
    "volunteers": lambda: black_card_next("morgan_three_cards"),
    "lives": lambda: black_card_next("morgan_two_lives", relics={"holy_grail": 3}),
    "mercenaries": lambda: black_card_next("mercenaries", pict_war={"warriors": 3}, saxon_war={"warriors": 3}),
    "clairvoyance": lambda: situation(*COURT, active=1, phase="heroic", black_pile_size=9),
    "arthur, the traitor": lambda: situation(*COURT, active=2, phase="heroic", white_swords=5, black_swords=5),
    "convocation": lambda: situation(*COURT, active=3, phase="heroic", white_pile_size=3),
    "fate": lambda: situation(*COURT, phase="heroic", white_pile_size=2),
    "dragon": lambda: situation(
        *[knight(coat, "fight_5 grail", place="dragon") for coat in ("palamedes", "gawain", "galahad", "kay")],
        phase="heroic",
        over=["lancelot"],
        dragon={"white": [["fight_5"] * 2, ["fight_4"] * 3, ["fight_3"] * 3], "black": []},
    ),
    "unmasked": lambda: situation(
        *COURT[:2],
        knight("arthur", traitor=True, shown=True, standing="unmasked", life=0, place="nowhere"),
        active=2,
        phase="traitor",
        relics={"lancelots_armor": 2},
    ),
    "last sword": lambda: situation(
        knight("gawain", "fight_5 piety", place="pict_war", life=1),
        knight("galahad", traitor=True),
        knight("arthur", "grail"),
        phase="heroic",
        pict_war={"run": 4},
        white_swords=7,
        black_swords=4,
    ),
    "three players": lambda: situation(
        *COURT[:3], phase="heroic", engines=6, white_swords=2, black_swords=2, pict_war={"run": 2}
    ),
}


@pytest.mark.rule("R18.3")
@pytest.mark.parametrize("name", SITUATIONS)
def test_no_deal_can_be_told_from_another(name: str) -> None:
    table = SITUATIONS[name]()
    position = Position.of(table)
    assert position is not None
    random = Random(name)
    for viewer in (*range(len(state_of(table).knights)), None):
        for _ in range(3):
            assert list(leaks(position, viewer, random)) == []


@pytest.mark.rule("R18.5")
def test_a_spectator_sees_public_items_only() -> None:
    table = duel()
    shown = game_of(table)
    view = table.view(None).game
    assert view.private is None
    assert [each.traitor for each in view.knights] == [None] * len(shown.state.knights)
    assert [each.hand_size for each in view.knights] == [4, 4, 4, 3]
