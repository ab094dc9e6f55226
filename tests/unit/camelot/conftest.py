"""What holds for whatever these tests play: what is told and asked is well formed, and cites rules that there are."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from engine.camelot.game import CAMELOT
from engine.core.decisions import Ask, Question
from engine.core.events import Event, Told
from engine.core.table import Table


@pytest.fixture(autouse=True)
def well_told_and_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    take, advance = Table._take_told, Table._advance

    def take_checked(table: Table) -> list[Told]:
        told = take(table)
        for each in told:
            for event in (each.public, *(each.private or {}).values()):
                _check_event(event)
        return told

    def advance_checked(table: Table, answers: Any) -> None:
        advance(table, answers)
        if isinstance(table._ask, Ask):
            for question in table._ask.questions.values():
                _check_question(question)
        if table.outcome is not None:
            assert table.outcome.rule in CAMELOT.rules

    monkeypatch.setattr(Table, "_take_told", take_checked)
    monkeypatch.setattr(Table, "_advance", advance_checked)


def _check_event(event: Event) -> None:
    assert isinstance(event, Event)
    msgspec.convert(msgspec.to_builtins(event), type(event))
    assert event.rule in CAMELOT.rules, f"{event} cites no rule"


def _check_question(question: Question[Any]) -> None:
    for option in question.options:
        msgspec.convert(msgspec.to_builtins(option), type(option))
        assert option.rule in CAMELOT.rules, f"{option} cites no rule"
        assert option.title
    assert len({option.id for option in question.options}) == len(question.options)
    assert question.least <= question.most
    question.judge(question.default)
