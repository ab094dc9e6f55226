"""An engine that plays the small game of the tests instead of those of the catalogue, as a process.

Seats come and go in it as they like, and its messages have no details of their own: what all games share is enough.
"""

from __future__ import annotations

import sys
from typing import Any

from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.wrappers_pb2 import StringValue

from engine.core.decisions import Option, Question
from engine.core.events import Event, kind_of
from engine.core.table import Table
from engine.core.wire import Wire
from roundtable.table.v1 import table_pb2
from services.engine import service
from services.engine.main import FULL_NAME, compose
from services.runtime.processes import Processes
from services.runtime.server import Ready, run
from services.runtime.settings import Settings
from tests.unit.core.toy import TOYS


class ToyWire(Wire):
    def __init__(self) -> None:
        # Nothing to plan, as there are no details.
        self._event = event  # type: ignore[assignment]

    def view(self, table: Table, seat: int | None) -> table_pb2.View:
        return table_pb2.View(seat=seat, detail=text(table.game.view(table.play, seat)))

    def _open(self, question: Question[Any]) -> table_pb2.Decision:
        return table_pb2.Decision(
            key=question.key,
            options=map(option, question.options),
            min=question.least,
            max=question.most,
            ordered=question.ordered,
            default=[question.options[place].id for place in question.default],
        )


def option(offered: Option) -> table_pb2.Option:
    return table_pb2.Option(id=offered.id, rule=offered.rule, title=offered.title, alone=offered.alone)


def event(told: Event) -> table_pb2.Event:
    return table_pb2.Event(kind=kind_of(type(told)), rule=told.rule, detail=text(told))


def text(value: object) -> Packed:
    packed = Packed()
    packed.Pack(StringValue(value=repr(value)))
    return packed


def serve_toy_engine(processes: Processes, settings: Settings) -> Ready:
    return processes.serve("engine", settings, [sys.executable, "-m", "tests.integration.toy_engine"])


if __name__ == "__main__":
    service.GAMES = TOYS  # type: ignore[attr-defined]  # imported there
    service.WIRES = {"toy": ToyWire()}
    run("engine", FULL_NAME, Settings(), compose)
