"""The terminal's screens show a gathering as far as there is room."""

from __future__ import annotations

from io import StringIO
from typing import cast

import pytest
from rich.console import Console

from clients.gathering import Game, Gathering
from clients.sdk import Seat
from clients.terminal.boards import PlainBoard
from clients.terminal.screens import LivePicture
from roundtable.session.v1.session_pb2 import GetViewResponse, Said
from roundtable.table.v1.table_pb2 import Declaration, Update


class OneGame(Gathering):
    """A gathering whose game is in play, without players."""

    def __init__(self) -> None:
        super().__init__("any", 2, 1)
        self.game_in_play = Game(cast(Seat, None), None)
        self.game_in_play.seen = GetViewResponse(update=Update(version=7, asked=[1]))

    @property
    def games(self) -> list[Game]:
        return [self.game_in_play]


@pytest.mark.parametrize(("height", "shown"), [(20, []), (24, []), (26, ["b", "c"]), (40, ["a", "b", "c"])])
def test_what_was_said_last_stands_below_the_board_where_there_is_room(height: int, shown: list[str]) -> None:
    console = Console(file=StringIO(), width=80, height=height, force_terminal=True, highlight=False)
    gathering = OneGame()
    for word in "abc":
        gathering.game_in_play.said.append(Said(seat=1, declaration=Declaration(title=word)))

    picture = LivePicture(console, PlainBoard())
    with picture.lit(), console.capture() as capture:
        picture.show(gathering)

    lines = [line.strip() for line in capture.get().splitlines()]
    assert "asked: seat 1" in lines
    assert [line for line in lines if "says" in line] == [f"seat 1 says: {word}" for word in shown]
