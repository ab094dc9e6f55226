"""`roundtable verify`: one line, whatever came of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.cli.main import main

RECORD = Path(__file__).parents[2] / "records" / "camelot-v2-1.json"


def verified(capsys: pytest.CaptureFixture[str], file: Path, *flags: str) -> tuple[int, str, str]:
    status = main(["verify", str(file), *flags])
    return (status, *capsys.readouterr())


def altered(folder: Path, old: str, new: str) -> Path:
    text = RECORD.read_text()
    assert text.count(old) == 1
    file = folder / "record.json"
    file.write_text(text.replace(old, new))
    return file


def test_a_record_that_is_right_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    kept = json.loads(RECORD.read_text())
    commitment = kept["commitment"]

    for flags in ((), ("--commitment", commitment)):
        status, out, err = verified(capsys, RECORD, *flags)
        assert (status, err) == (0, "")
        assert out == (
            f"{RECORD} is verified: Shadows over Camelot, 3 seats, {len(kept['inputs'])} inputs, "
            f"{kept['outcome']['ending'].replace('_', ' ')}; "
            "every digest is right, and the seed is the one committed to\n"
        )


def test_a_record_of_another_commitment_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = verified(capsys, RECORD, "--commitment", "00" * 32)
    assert (status, out) == (1, "")
    assert err == f"roundtable: {RECORD}: the seed is not the one of this commitment\n"
    assert verified(capsys, RECORD, "--commitment", "xyz")[0] == 2


def test_the_first_input_that_differs_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    line = RECORD.read_text().splitlines()[14 + 20]
    other = line.replace('"seat": 1', '"seat": 0') if '"seat": 1' in line else line.replace('"seat": ', '"seat": 1')

    status, out, err = verified(capsys, altered(tmp_path, line, other))

    assert (status, out) == (1, "")
    number = RECORD.read_text().splitlines().index(line) - RECORD.read_text().splitlines().index('"inputs": [')
    assert err.endswith(f"; input {number} is the first that differs\n")
    assert err.count("\n") == 1


def test_another_seed_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    secret = json.loads(RECORD.read_text())["secret"]
    other = ("1" if secret[0] == "0" else "0") + secret[1:]

    status, out, err = verified(capsys, altered(tmp_path, secret, other))

    assert (status, out) == (1, "")
    assert "the seed is not the one that was committed to; input 1 is the first that differs" in err


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"rules_version": 2', '"rules_version": 0', "the record is of version 0 of the rules; here is 2"),
        ('"game": "camelot"', '"game": "camelos"', "no such game"),
        ('"heal_with_merlins": "false"', '"heal_with_merlins": "true"', "the seal is broken"),
        ('"closed": ""', '"closed": "x"', "the seal is broken"),
        ('"seats": 3', '"seats": 9', "no game begins like this: Shadows over Camelot takes 3 to 7 seats"),
    ],
)
def test_a_changed_set_up_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    status, out, err = verified(capsys, altered(tmp_path, old, new))
    assert (status, out) == (1, "")
    assert complaint in err


def test_what_is_no_record_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for content in (b"", b"{}", b"\xff", b"[" * 100_000):
        (tmp_path / "broken.json").write_bytes(content)
        status, out, err = verified(capsys, tmp_path / "broken.json")
        assert (status, out) == (1, "")
        assert "this is no record" in err
        assert err.count("\n") == 1
    assert verified(capsys, tmp_path / "nowhere.json")[0] == 1
