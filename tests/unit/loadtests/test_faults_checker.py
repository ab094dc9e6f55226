"""The checker of fault runs, on histories that are right and on such as must not pass."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from loadtests.faults.checker import Finding, Kind, Move, Record, check
from loadtests.faults.history import OK, UNKNOWN, Broke, Line, Opened, Seated, Seen, Try

GAME = "b1-game"
MOVES = [Move(0, "1", ("dig",)), Move(1, "2", ("pass",)), Move(0, "3", ("pass",)), Move(1, "4", ("dig", "pass"))]
RECORD = Record(
    GAME,
    seats=2,
    finished=True,
    moves=MOVES,
    forms=[{0: f"form {version} of 0", 1: f"form {version} of 1"} for version in range(1, 5)],
    views={(version, seat): f"view {version} of {seat}" for version in range(5) for seat in range(2)},
    marks=[f"mark {version}" for version in range(5)],
    places={f"c{version}": (version + 1, f"mark {version}") for version in range(5)},
)


def seen(seat: int, version: int, at: float, stream: int = 0, **fields: object) -> Seen:
    kind = "snapshot" if version == 0 else "update"
    digest = RECORD.views[0, seat] if version == 0 else RECORD.forms[version - 1][seat]
    line = Seen(stream or seat + 1, at, kind, f"c{version}", version, digest, version == len(MOVES))
    return msgspec.structs.replace(line, **fields)


def choice(made: int, began: float, **fields: object) -> Try:
    """The attempt that made this version, answered half a second later."""
    move = MOVES[made - 1]
    line = Try(
        "Choose",
        f"request {made}",
        (move.decision, *move.picks),
        began,
        began + 0.5,
        OK,
        made,
        RECORD.forms[made - 1][move.seat],
    )
    return msgspec.structs.replace(line, **fields)


def histories() -> dict[str, list[Line]]:
    """Seat 0 moves at 1 and 3, seat 1 at 2 and 4; both see each move three quarters of a second after its beginning."""
    return {
        f"client {seat}": [
            Seated(GAME, seat),
            Opened(seat + 1, 0.0, None),
            seen(seat, 0, 0.5),
            *(
                line
                for version in range(1, 5)
                for line in (
                    *((choice(version, version),) if MOVES[version - 1].seat == seat else ()),
                    seen(seat, version, version + 0.75),
                )
            ),
        ]
        for seat in range(2)
    }


def kinds(record: Record, changed: dict[str, list[Line]]) -> set[Kind]:
    return {finding.kind for finding in check(record, changed)}


def place(lines: list[Line], sought: Line) -> int:
    return lines.index(sought)


def without(record: Record, version: int) -> Record:
    """The record of a store that lost a move."""
    return replace(
        record,
        moves=[move for number, move in enumerate(record.moves, 1) if number != version],
        forms=[form for number, form in enumerate(record.forms, 1) if number != version],
        marks=[mark for number, mark in enumerate(record.marks) if number != version],
    )


def test_what_is_right_passes() -> None:
    assert list(check(RECORD, histories())) == []


def test_a_retry_that_gets_the_same_answer_passes() -> None:
    changed = histories()
    lines = changed["client 0"]
    first = choice(1, 1.0, ended=1.2, answer=UNKNOWN, version=-1, digest="")
    late = choice(1, 9.0, answer="ALREADY_APPLIED", version=-1, digest="", told={"version": "1"})
    lines[place(lines, choice(1, 1.0)) :] = [first, choice(1, 1.3), *lines[place(lines, choice(1, 1.0)) + 1 :], late]
    assert list(check(RECORD, changed)) == []


def test_a_move_whose_answer_never_came_may_have_been_made() -> None:
    changed = histories()
    lines = changed["client 1"]
    lines[place(lines, choice(4, 4.0))] = choice(4, 4.0, answer=UNKNOWN, version=-1, digest="")
    assert list(check(RECORD, changed)) == []


def test_a_move_whose_answer_never_came_may_be_nowhere() -> None:
    changed = histories()
    lost = Try("Choose", "request 9", ("3", "dig"), 3.0, 3.5, UNKNOWN)
    changed["client 0"].insert(3, lost)
    assert list(check(RECORD, changed)) == []


def test_a_lost_move_is_found() -> None:
    found = list(check(without(RECORD, 4), histories()))
    text = "client 1: request request 4 made version 4, but its move is nowhere in the record"
    assert Finding(Kind.LOST, text) in found


def test_a_lost_move_that_nobody_saw_in_a_feed_is_found() -> None:
    changed = histories()
    for seat, lines in enumerate(changed.values()):
        lines.remove(seen(seat, 4, 4.75))
    assert Kind.LOST in kinds(without(RECORD, 4), changed)


def test_a_doubled_move_is_found() -> None:
    doubled = replace(RECORD, moves=[*MOVES[:2], MOVES[0], MOVES[3]])
    assert Kind.DOUBLED in kinds(doubled, histories())


def test_two_requests_that_both_made_one_move_are_found() -> None:
    changed = histories()
    changed["client 0"].insert(4, choice(1, 1.1, request="another"))
    assert Kind.DOUBLED in kinds(RECORD, changed)


def test_a_move_that_nobody_made_is_found() -> None:
    changed = histories()
    lines = changed["client 0"]
    lines.remove(choice(3, 3.0))
    assert kinds(RECORD, changed) == {Kind.CONTENT}


def test_a_reordered_feed_is_found() -> None:
    changed = histories()
    lines = changed["client 1"]
    two, three = place(lines, seen(1, 2, 2.75)), place(lines, seen(1, 3, 3.75))
    lines[two], lines[three] = lines[three], lines[two]
    assert {Kind.LOST, Kind.DOUBLED} <= kinds(RECORD, changed)


def test_a_gap_in_a_feed_is_found() -> None:
    changed = histories()
    changed["client 1"].remove(seen(1, 2, 2.75))
    assert kinds(RECORD, changed) == {Kind.LOST}


def test_an_entry_seen_twice_is_found() -> None:
    changed = histories()
    changed["client 1"].insert(5, seen(1, 1, 1.8))
    assert kinds(RECORD, changed) == {Kind.DOUBLED}


def test_a_feed_that_ends_early_is_found() -> None:
    changed = histories()
    changed["client 1"].pop()
    assert kinds(RECORD, changed) == {Kind.LOST}


def resumed(*again: Line) -> dict[str, list[Line]]:
    """Seat 1's feed breaks after version 2, and this follows."""
    changed = histories()
    lines = changed["client 1"]
    after = place(lines, seen(1, 2, 2.75)) + 1
    rest = [msgspec.structs.replace(line, stream=9) if isinstance(line, Seen) else line for line in lines[after:]]
    changed["client 1"] = [*lines[:after], Broke(2, 2.8, "UNAVAILABLE"), *again, *rest]
    return changed


def test_a_feed_that_goes_on_where_it_broke_passes() -> None:
    assert list(check(RECORD, resumed(Opened(9, 2.9, "c2"), Seen(9, 3.0, "heartbeat", "c2")))) == []


def test_entries_that_are_no_moves_take_a_place_but_make_no_version() -> None:
    changed = histories()
    lines = changed["client 1"]
    lines.insert(place(lines, seen(1, 3, 3.75)), Seen(2, 3.6, "presence", "came"))
    moved = {**RECORD.places, "came": (4, "a mark"), "c3": (5, "mark 3"), "c4": (6, "mark 4")}
    found = list(check(replace(RECORD, places=moved), changed))
    assert [finding.text for finding in found] == ["client 0: 1 entries before version 3 are missing"]


@pytest.mark.parametrize(
    ("again", "kind"),
    [
        ([Opened(9, 2.9, None)], Kind.LOST),
        ([Opened(9, 2.9, "c1")], Kind.LOST),
        ([Opened(9, 2.9, "c2"), seen(1, 2, 3.0, stream=9)], Kind.DOUBLED),
        ([Opened(9, 2.9, "c2"), Seen(9, 3.0, "heartbeat", "c1")], Kind.CONTENT),
        ([Opened(9, 2.9, "c2"), Broke(9, 3.0, "CURSOR_UNKNOWN"), Opened(9, 3.1, "c2")], Kind.LOST),
    ],
)
def test_a_feed_that_goes_on_elsewhere_is_found(again: list[Line], kind: Kind) -> None:
    assert kind in kinds(RECORD, resumed(*again))


@pytest.mark.parametrize(
    "second",
    [
        {"digest": "another"},
        {"version": 3},
        {"answer": "ALREADY_APPLIED", "told": {"version": "3"}},
        {"answer": "DECISION_CLOSED"},
        {"answer": "TOO_FEW_PICKS"},
    ],
)
def test_two_different_answers_to_one_request_are_found(second: dict[str, object]) -> None:
    changed = histories()
    changed["client 0"].append(choice(1, 5.0, **second))
    assert Kind.ANSWERS in kinds(RECORD, changed)


def test_two_games_for_one_request_are_found() -> None:
    changed = histories()
    changed["client 0"][:0] = [
        Try("CreateGame", "r", (), -2.0, -1.0, OK, -1, "a game"),
        Try("CreateGame", "r", (), -2.0, -1.0, OK, -1, "another"),
    ]
    assert kinds(RECORD, changed) == {Kind.ANSWERS}


def test_an_entry_in_the_form_of_another_seat_is_a_leak() -> None:
    changed = histories()
    lines = changed["client 1"]
    lines[place(lines, seen(1, 3, 3.75))] = seen(1, 3, 3.75, digest="form 3 of 0")
    assert kinds(RECORD, changed) == {Kind.LEAKED}


def test_an_answer_in_the_form_of_another_seat_is_a_leak() -> None:
    changed = histories()
    lines = changed["client 0"]
    lines[place(lines, choice(1, 1.0))] = choice(1, 1.0, digest="form 1 of 1")
    assert kinds(RECORD, changed) == {Kind.LEAKED}


def test_the_view_of_another_seat_is_a_leak() -> None:
    changed = histories()
    changed["client 0"].append(Try("GetView", "", (), 6.0, 6.5, OK, 4, "view 4 of 1"))
    assert kinds(RECORD, changed) == {Kind.LEAKED}


def test_an_entry_that_is_nobodys_is_found() -> None:
    changed = histories()
    lines = changed["client 1"]
    lines[place(lines, seen(1, 3, 3.75))] = seen(1, 3, 3.75, digest="made up")
    assert kinds(RECORD, changed) == {Kind.CONTENT}


def test_a_cursor_of_another_history_is_found() -> None:
    forked = {**RECORD.places, "c2": (3, "another past")}
    assert kinds(replace(RECORD, places=forked), histories()) == {Kind.CONTENT}


def test_two_histories_at_one_place_are_found() -> None:
    forked = {**RECORD.places, "seen by somebody": (3, "another present")}
    assert kinds(replace(RECORD, places=forked), histories()) == {Kind.CONTENT}


def test_a_move_that_came_before_one_that_had_ended_is_found() -> None:
    """Seat 1's move, the second by the record, ends before that of seat 0, the first, begins."""
    changed = histories()
    lines = changed["client 0"]
    lines[place(lines, choice(1, 1.0))] = choice(1, 2.6, ended=2.7)
    assert kinds(RECORD, changed) == {Kind.ORDER}


def test_a_move_that_began_after_it_was_seen_is_found() -> None:
    changed = histories()
    lines = changed["client 1"]
    lines[place(lines, choice(4, 4.0))] = choice(4, 5.0)
    assert kinds(RECORD, changed) == {Kind.ORDER}


def test_a_view_that_is_older_than_what_was_known_is_found() -> None:
    changed = histories()
    changed["client 0"].append(Try("GetView", "", (), 4.9, 5.0, OK, 3, "view 3 of 0"))
    assert kinds(RECORD, changed) == {Kind.ORDER}


@pytest.mark.parametrize("seat", [Seated(GAME, 0), Seated("another game", 1)])
def test_a_seat_given_twice_or_in_another_game_is_found(seat: Seated) -> None:
    changed = histories()
    changed["client 1"][0] = seat
    assert Kind.CONTENT in kinds(RECORD, changed)


def test_a_game_that_was_not_finished_is_found() -> None:
    assert kinds(replace(RECORD, finished=False), histories()) == {Kind.UNFINISHED}
