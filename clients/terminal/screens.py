"""What a gathering looks like while it plays: drawn on a terminal, told in lines elsewhere."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table as Grid

from clients.gathering import Game, Gathering
from clients.terminal.boards import Board, board_of

_HEADING_LINES = 5
_BOARD_LINES = 24
"""Lines that a board takes at most; what is said has the room below it."""


class Screen(Protocol):
    period: float
    """Seconds between two showings."""

    def show(self, gathering: Gathering) -> None: ...

    def lit(self) -> AbstractContextManager[object]:
        """Shows only while this is entered."""


class LivePicture:
    """Redraws one picture in place."""

    period = 0.1

    def __init__(self, console: Console, board: Board) -> None:
        self._console = console
        self._board = board
        self._live = Live(console=console, auto_refresh=False)

    def lit(self) -> AbstractContextManager[object]:
        return self._live

    def show(self, gathering: Gathering) -> None:
        picture = self._table(gathering) if gathering.total == 1 else self._overview(gathering)
        self._live.update(picture, refresh=True)

    def _table(self, gathering: Gathering) -> RenderableType:
        if not gathering.games or (seen := gathering.games[0].seen) is None:
            return summary(gathering)
        said = [f"seat {each.seat} says: {each.declaration.title}" for each in gathering.games[0].said]
        room = max(0, min(len(said), self._console.height - _BOARD_LINES))
        return Group(self._board.picture(seen.view, seen.update), *said[len(said) - room :])

    def _overview(self, gathering: Gathering) -> RenderableType:
        """Games in play first, as many as there is room for."""
        rows = sorted(enumerate(gathering.games, 1), key=lambda row: row[1].finished)
        grid = Grid("game", "moves", "asked", "ending", box=None)
        for number, game in rows[: max(1, self._console.height - _HEADING_LINES)]:
            asked = ", ".join(f"seat {seat}" for seat in game.latest.asked)
            ending = game.latest.outcome.ending.replace("_", " ")
            grid.add_row(str(number), str(game.moves), asked, ending)
        return Group(summary(gathering), grid)


class Lines:
    """Prints a line now and then."""

    period = 2.0

    def __init__(self, console: Console, board: Board) -> None:
        self._console = console
        self._board = board

    def lit(self) -> AbstractContextManager[object]:
        return nullcontext()

    def show(self, gathering: Gathering) -> None:
        self._console.print(self._line(gathering), soft_wrap=True)

    def _line(self, gathering: Gathering) -> str:
        if gathering.total > 1 or not gathering.games or (seen := gathering.games[0].seen) is None:
            return summary(gathering)
        return f"move {seen.update.version}: {self._board.line(seen.view, seen.update)}"


def screen_of(console: Console, game: str) -> Screen:
    board = board_of(game)
    return LivePicture(console, board) if console.is_terminal else Lines(console, board)


def summary(gathering: Gathering) -> str:
    if not gathering.games:
        return "players are queueing"
    return f"{len(gathering.games)} games begun, {gathering.finished} finished; {gathering.moves} moves"


def result(game: Game, board: Board) -> str:
    """How a finished game went, in one line."""
    assert game.seen is not None, "a finished game has been looked at"
    seed = "" if game.seed is None else f" (seed {game.seed})"
    return f"{board.verdict(game.seen.view, game.seen.update.outcome)}; {game.moves} moves{seed}"
