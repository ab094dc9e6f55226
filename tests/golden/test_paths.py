"""How many ways three positions of Camelot can go on, counted by hand where a comment says how."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.core.table import Table
from tests.golden.paths import paths
from tests.unit.camelot.situations import knight, situation


def empty_hands() -> Table:
    return situation(knight("kay"), knight("gawain"), knight("percival"), black_top="picts picts despair")


def tristan_rides() -> Table:
    return situation(knight("tristan", "fight_1 merlin"), knight("gawain"), knight("percival"), phase="heroic")


def morgan_comes() -> Table:
    return situation(
        knight("kay", "fight_3*2 grail", place="black_knight"),
        knight("gawain", "merlin"),
        knight("percival", "fight_5"),
        black_top="morgan_three_cards despair",
        engines=3,
    )


@pytest.mark.parametrize(
    ("position", "numbers"),
    [
        # Three evil options. Then six rides and drawing, with an engine on the board a fight: 7, 7 and 8. Then a
        # knight who has ridden can only end his turn, one who drew may sacrifice, one who fights without a card
        # rolls: 8, 8 and 9.
        (empty_hands, (3, 7 + 7 + 8, 8 + 8 + 9)),
        # Six rides, six free ones, drawing, a Merlin. Then a paid ride leaves a sacrifice or the end; drawing and a
        # Merlin leave the free rides as well; a free ride leaves the Merlin and two groups of the Black Knight or of
        # Lancelot, two cards for Excalibur, none for the Grail, the 1 of either war.
        (tristan_rides, (6 + 6 + 2, 6 * 2 + 2 * 8 + 3 + 3 + 3 + 1 + 2 + 2, 112)),
        # Morgan asks the one knight with a Merlin; the other options lead to six rides and a card in either group.
        # Then he may sacrifice where there is another action for it: in a war, no card of this hand can be laid.
        (morgan_comes, (3, 1 + 8 + 8, 2 + 2 * (4 * 2 + 2 * 1 + 2 * 2))),
    ],
)
def test_there_are_so_many_ways_to_go_on(position: Callable[[], Table], numbers: tuple[int, ...]) -> None:
    table = position()
    assert tuple(paths(table, depth) for depth in range(1, len(numbers) + 1)) == numbers
