"""How a game in play is shown on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from rich.console import Group, RenderableType

from clients.terminal.camelot import CamelotBoard
from roundtable.table.v1.table_pb2 import Outcome, Update, View


class Board(Protocol):
    """Draws what one seat may know of a game."""

    def picture(self, view: View, update: Update) -> RenderableType:
        """The whole table."""

    def secrets(self, view: View) -> str:
        """What the viewer knows and others do not, in a line; empty where there is nothing."""

    def line(self, view: View, update: Update) -> str:
        """The table in a few words."""

    def verdict(self, view: View, outcome: Outcome) -> str:
        """Who won, and why."""


class PlainBoard:
    """Any game, by what all games share."""

    def picture(self, view: View, update: Update) -> RenderableType:
        return Group(f"move {update.version}", self.line(view, update))

    def secrets(self, view: View) -> str:
        return ""

    def line(self, view: View, update: Update) -> str:
        if update.HasField("outcome"):
            return self.verdict(view, update.outcome)
        return f"asked: {_seats(update.asked)}"

    def verdict(self, view: View, outcome: Outcome) -> str:
        ending = outcome.ending.replace("_", " ")
        return f"{ending} ({outcome.rule}); won by {_seats(outcome.winners) or 'nobody'}"


def _seats(numbers: Sequence[int]) -> str:
    return ", ".join(f"seat {number}" for number in numbers)


def board_of(game: str) -> Board:
    """The game's own board, or the plain one."""
    return _BOARDS.get(game, PlainBoard())


_BOARDS: Mapping[str, Board] = {"camelot": CamelotBoard()}
