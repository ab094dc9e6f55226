"""What the command line says of failures."""

from __future__ import annotations

import pytest

from services.cli.flags import failed


def test_signs_that_steer_a_terminal_are_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert failed("no such key: \x1b[31mred\r\u202eé\nsecond line") == 1
    assert capsys.readouterr().err == "roundtable: no such key: \\x1b[31mred\\r\\u202eé\nsecond line\n"
