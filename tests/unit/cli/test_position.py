"""`roundtable position`: a file in, what the rules say out."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from typing import Any

import pytest

from services.cli.main import main

EDGE_CASE_37 = str(Path(__file__).parents[2] / "positions" / "edge_case_37.json")


class Said:
    """What a command said, and its exit status."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    def run(*arguments: str, stdin: str = "") -> Said:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        status = main(["position", *arguments])
        return Said(status, *capsys.readouterr())

    return run


def offered(said: Said, seat: int) -> list[str]:
    """Ids of the seat's options, of what `options --json` said."""
    assert (said.status, said.err) == (0, "")
    (decision,) = [decision for decision in said.json["decisions"] if decision["seat"] == seat]
    return [option["id"] for option in decision["options"]]


@pytest.mark.rule("E37", "R11.4", "R11.9")
def test_e37_a_hand_written_file_offers_the_exchange_and_its_pick_makes_the_described_row(
    run: Any, tmp_path: Path
) -> None:
    assert "grail" in offered(run("options", EDGE_CASE_37, "--json"), 0)
    listed = run("options", EDGE_CASE_37)
    assert any(line.split()[:2] == ["grail", "R6.18"] for line in listed.out.splitlines())

    picked = run("pick", EDGE_CASE_37, "--seat", "0", "grail")

    assert picked.status == 0
    facts = picked.json["facts"]
    assert facts["grail"] == ["grail", "grail", "", "grail", "grail", "grail", "grail"]
    assert (facts["white_discards"], facts["black_discards"]) == (["grail"], ["desolation"])
    assert facts["knights"][0]["hand"] == ["grail", "merlin"]
    assert picked.err.splitlines() == [
        "R6.18 white_card_played seat=0 card=grail place=grail",
        "R11.9 black_card_removed place=grail slot=2 card=desolation",
    ]
    # The next Grail card there wins: he plays it in another turn.
    later = picked.json
    del later["facts"]["turn"]
    won = run("pick", "-", "--seat", "0", "grail", stdin=json.dumps(later))
    assert "R8.3 quest_ended place=grail won=true" in won.err.splitlines()


def test_a_game_begins_as_the_seed_deals_it(run: Any) -> None:
    first, again, other = (run("new", "camelot", "--players", "5", "--seed", seed) for seed in ("3", "3", "4"))

    assert (first.status, first.err) == (0, "")
    assert first.out == again.out != other.out
    assert len(first.json["facts"]["knights"]) == 5
    assert run("new", "camelot", "--players", "9").status == 2
    assert run("new", "chess").status == 2


def test_what_a_file_leaves_out_is_as_at_the_set_up(run: Any) -> None:
    dealt = run("new", "camelot", "--players", "3", "--seed", "3").json
    told = {"game": "camelot", "seats": 3, "seed": 3}

    for part in ("options", "show"):
        assert run(part, "-", stdin=json.dumps(told)).out == run(part, "-", stdin=json.dumps(dealt)).out
    partly = {"game": "camelot", "facts": {"knights": [{}, {"coat": "arthur", "hand": ["fate"]}, {}]}}
    decisions = run("options", "-", "--json", stdin=json.dumps(partly)).json["decisions"]
    assert [(decision["seat"], decision["key"]) for decision in decisions] == [
        (1, "offer_card"),
        (2, "offer_card"),
        (0, "offer_card"),
    ]
    assert [option["id"] for option in decisions[0]["options"]] == ["card:fate"]
    assert "card:merlin" in [option["id"] for option in decisions[1]["options"]]


def test_a_position_in_the_middle_of_a_rule_goes_on(run: Any) -> None:
    facts = {
        "phase": "heroic",
        "active": 0,
        "knights": [{"coat": "gawain", "hand": ["fight_1", "fight_3"]}, {"coat": "kay"}, {"coat": "tristan"}],
        "engines": 2,
        "rolls": [4],
    }
    asked = run("pick", "-", "--seat", "0", "fight_engine", stdin=json.dumps({"game": "camelot", "facts": facts}))
    assert asked.json["inputs"] == [{"seat": 0, "picks": ["fight_engine"]}]
    assert offered(run("options", "-", "--json", stdin=asked.out), 0) == ["pass", "card:fight_1", "card:fight_3"]

    fought = run("pick", "-", "--seat", "0", "card:fight_1", "card:fight_3", stdin=asked.out)

    assert fought.err.splitlines()[-3:] == [
        "R6.14 engine_fought seat=0 cards=fight_1,fight_3 roll=4",
        "R6.14 fight_decided white=4 evil=4 won=false place=camelot",
        "R6.14 life_changed seat=0 change=-1 life=3",
    ]
    assert "inputs" not in fought.json
    assert "rolls" not in fought.json["facts"]


def test_a_view_shows_what_its_seat_knows_and_nothing_else(run: Any) -> None:
    position = run("new", "camelot", "--players", "4", "--seed", "3").out
    hands = [", ".join(knight["hand"]) for knight in json.loads(position)["facts"]["knights"]]

    shown, seen = run("show", "-", stdin=position).out, run("view", "-", "--seat", "2", stdin=position).out

    assert all(f"hand {hand}" in shown for hand in hands)
    assert [f"hand {hand}" in seen for hand in hands] == [False, False, True, False]
    view = run("view", "-", "--seat", "2", "--json", stdin=position).json
    assert (view["view"]["seat"], view["update"]["decision"]["seat"]) == (2, 2)


@pytest.mark.parametrize(
    ("seat", "candidate", "why"),
    [
        ("0", "grail", "grail is offered: R6.18, "),
        ("0", "move:grail", "move:grail is not offered: R6.27, "),
        ("0", "draw_black", "draw_black is not offered: R3.1, "),
        ("1", "move:grail", "move:grail is not offered: R3.3, "),
    ],
)
def test_why_not(run: Any, seat: str, candidate: str, why: str) -> None:
    said = run("why", EDGE_CASE_37, "--seat", seat, candidate)
    assert (said.status, said.err) == (0, "")
    assert said.out.startswith(why)
    assert len(said.out) > len(why) + 5


def test_nothing_is_said_of_what_the_game_does_not_have(run: Any) -> None:
    said = run("why", EDGE_CASE_37, "--seat", "0", "fly:avalon")
    assert (said.status, said.out) == (1, "")
    assert said.err == "roundtable: UNKNOWN_OPTION: no such candidate belongs to this decision: fly:avalon\n"


@pytest.mark.parametrize(
    ("seat", "picks", "status", "reason"),
    [
        ("0", ["move:grail"], 1, "UNKNOWN_OPTION: a pick is not among the options on offer (move:grail): R6.27, "),
        ("0", ["grail", "move:camelot"], 1, "TOO_MANY_PICKS: "),
        ("0", [], 1, "TOO_FEW_PICKS: "),
        ("1", ["grail"], 1, "NOT_ASKED: "),
        ("7", ["grail"], 2, "Invalid value for --seat"),
    ],
)
def test_a_pick_that_the_rules_do_not_take_prints_no_position(
    run: Any, seat: str, picks: list[str], status: int, reason: str
) -> None:
    said = run("pick", EDGE_CASE_37, "--seat", seat, *picks)
    assert (said.status, said.out) == (status, "")
    assert said.err.startswith(f"roundtable: {reason}")
    assert said.err.count("\n") == 1


# Files that are no position


def broken(**facts: Any) -> str:
    position = json.loads(Path(EDGE_CASE_37).read_text())
    position["facts"] |= facts
    return json.dumps(position)


def test_every_fault_is_told_in_a_line_with_its_path(run: Any) -> None:
    knights = [
        {"coat": "gawain", "place": "grail", "hand": ["grail"] * 3, "nickname": "Hawk"},
        {"coat": "kay", "standing": "dead", "hand": ["fate"]},
        {"coat": "tristan", "life": "four", "hand": ["fate", "excalibur"]},
    ]
    position = json.loads(broken(knights=knights, relics={"excalibur": 2}, engines=13))
    position |= {"weather": "fine", "options": {"squire": "true"}}
    said = run("options", "-", stdin=json.dumps(position))

    assert (said.status, said.out) == (2, "")
    assert [line.split(": ")[:3] for line in said.err.splitlines()] == [
        ["roundtable", "-", path]
        for path in (
            "weather",
            "options.squire",
            "facts.knights[0].nickname",
            "facts.knights[2].life",
            "facts.knights[2].hand[1]",
            "facts.knights[2].hand[0]",
            "facts.knights[1].hand",
            "facts.engines",
            "facts.engines",
            "facts.relics.excalibur",
        )
    ]


@pytest.mark.parametrize(
    ("facts", "fault"),
    [
        ({"white_discards": ["fight_5"] * 91}, "facts.white_discards[7]: fight_5 is there 91 times, "),
        ({"white_pile": ["fate"]}, "facts: of the white deck 62 are nowhere: "),
        ({"white_pile": ["fate", "...", "fate"]}, "facts.white_pile[2]: fate is there 2 times, and the game has 1"),
        ({"relics": {"excalibur": 0}}, "facts.relics.excalibur: it is still on its quest: excalibur is not over"),
        ({"grail": ["merlin"]}, "facts.grail[0]: merlin does not lie on the row"),
        ({"grail": ["grail"] * 7}, "facts.grail: is full, and should have ended"),
        ({"grail": [""] * 8}, "facts.grail: there are 7 slots"),
        ({"lancelot": {"black": [{"card": "picts"}]}}, "facts.lancelot.black[0].card: does not go to this quest"),
        ({"pict_war": {"run": 5}}, "facts.pict_war.run: is complete, and should have ended"),
        ({"pict_war": {"kings": 1}}, "facts.pict_war.kings: there is no such fact"),
        ({"rolls": [9]}, "facts.rolls[0]: the die has no 9"),
        ({"mists": 2_000_000_000}, "facts.mists: 2000000000 is not a number of this size"),
        ({"mists": 2_000_000}, "facts.mists: 2000000 is not from 0 to 1"),
        ({"phase": "challenge"}, "facts.phase: there are no squires to choose"),
        ({"knights": [{}, {}, {"joined": True}]}, "facts.knights: 3 at least have not joined in mid-game"),
        ({"knights": [{}, {}, {"traitor": True, "shown": True}]}, "facts.knights[2].shown: a traitor whose card"),
        ({"turn": {"ends": True}}, "facts.turn.ends: the turn should have ended"),
        ({"turn": {"fatal": True}}, "facts.turn.fatal: the active knight is at 0 life if and only if"),
        ({"turn": {"owed": True}}, "facts.turn.owed: is so only if sacrificed is"),
        ({"turn": {"actions": 2}}, "facts.turn.actions: there is one, and another one for a sacrifice"),
        ({"turn": {"types": ["heal"]}}, "facts.turn.types: there is one for each of the 0 actions"),
        ({"phase": "evil", "turn": {"actions": 1}}, "facts.turn: nothing is done yet in the phase evil"),
        ({"phase": "over", "ending": "siege"}, "facts.ending: siege has not come about"),
        ({"active": 5}, "facts.active: there is no seat 5"),
        ({"order": [0, 1, 1]}, "facts.order: is not each seat once"),
        ({"phase": "over"}, "facts.ending: is told if and only if the game is over"),
        ({"phase": "lunch"}, 'facts.phase: "lunch" is not one of sharing, evil, heroic, traitor, over'),
        ({"white_swords": 12}, "facts.white_swords: with 12 swords the game is over"),
        ({"knights": []}, "seats: is missing, and the facts do not tell"),
        ({"knights": [{}] * 8}, "facts: Shadows over Camelot takes 3 to 7 seats"),
        ({"knights": [{}, {}, 7]}, "facts.knights[2]: 7 is not an object"),
        ({"white_pile": {}}, "facts.white_pile: an object is not a list"),
    ],
)
def test_what_cannot_be_is_refused(run: Any, facts: dict[str, Any], fault: str) -> None:
    said = run("show", "-", stdin=broken(**facts))
    assert (said.status, said.out) == (2, "")
    assert f"roundtable: -: {fault}" in said.err


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"game": "chess"}, "game: there is no such game; there is camelot"),
        ({"game": None}, "game: there is no such game; there is camelot"),
        ({"rules_version": 99}, "rules_version: the rules here are of version 2"),
        ({"seats": 5}, "seats: the facts are about 3"),
        ({"seed": -1}, "seed: is not a whole number from 0 to 18446744073709551615"),
        ({"seed": 1, "chance": {"secret": "00" * 32}}, "seed: there is a seed or a chance, not both"),
        ({"chance": {"secret": "00"}}, "chance.secret: is not 32 bytes in hexadecimal digits"),
        ({"chance": {"luck": 1}}, "chance.luck: a chance has no such part"),
        (
            {"inputs": [{"seat": 0, "picks": ["move:grail"]}]},
            "inputs[0]: a pick is not among the options on offer (R6.27)",
        ),
        ({"inputs": [{"seat": 1, "picks": ["grail"]}]}, "inputs[0]: nothing is asked of this seat now"),
        ({"inputs": [{"seat": 0, "pick": "grail"}]}, "inputs[0].pick: an input has no such part"),
        ({"inputs": [{"seat": 0, "kind": "guess"}]}, "inputs[0].kind: is none of answer, default, order, leave, join"),
        (
            {"inputs": [{"seat": 0, "kind": ["a"]}]},
            "inputs[0].kind: is none of answer, default, order, leave, join",
        ),
        ({"orders": {"0": {"\ud800": "pass"}}}, "orders.0.\\ud800: the name is not text"),
        ({"inputs": [{"seat": 0, "picks": ["\udfff"]}]}, "inputs[0].picks[0]: is not text"),
        ({"options": {"heal_with_merlins": "maybe"}}, "options.heal_with_merlins: the option takes one of false, true"),
        ({"orders": {"9": {}}}, "orders.9: there is no such seat"),
        ({"arrivals": [4]}, "arrivals[0]: the next seat is 3"),
        ({"arrivals": [3, 3]}, "arrivals[1]: the next seat is 4"),
        ({"arrivals": [3, 4, 5, 6, 7]}, "arrivals[4]: every seat has been taken"),
        (
            {"options": {"traitor_in_deck": "among_us"}, "arrivals": [3, 4]},
            "arrivals[1]: every loyalty card has been dealt",
        ),
        ({"departures": [1]}, "departures: a seat leaves this game at once: give it as an input"),
        ({"facts": []}, "facts: is not an object"),
    ],
)
def test_parts_around_the_facts_are_checked(run: Any, change: dict[str, Any], fault: str) -> None:
    said = run("show", "-", stdin=json.dumps(json.loads(broken()) | change))
    assert (said.status, said.out) == (2, "")
    assert f"roundtable: -: {fault}\n" in said.err


def test_a_newcomer_who_waits_for_the_end_of_the_turn_stays_one(run: Any) -> None:
    waiting = json.dumps(json.loads(broken()) | {"arrivals": [3, 4, 5, 6]})
    assert offered(run("options", "-", "--json", stdin=waiting), 0)
    ended = run("pick", "-", "--seat", "0", "grail", stdin=waiting)
    assert ended.json["arrivals"] == [3, 4, 5, 6]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "(file): this is not JSON: "),
        ("[]", "(file): a position is an object"),
        ('{"game": "camelot", "seats": NaN}', "(file): this is not JSON: NaN is no number"),
        ("[" * 100_000, "(file): this is not JSON: "),
        (
            '{"game": "camelot", "facts": {"relics": {"excalibur": 1, "excalibur": 2}}}',
            "facts.relics.excalibur: stands twice",
        ),
        ('{"game": "camelot", "facts": {"turn": {"ends": 1, "ends": 2}, "turn": {}}}', "facts.turn: stands twice"),
        (
            '{"game": "camelot", "facts": {"knights": ' + "[" * 900 + "]" * 900 + "}}",
            f"facts.knights{'[0]' * 14}: a position is at most 16 lists and objects deep\n",
        ),
    ],
)
def test_what_is_no_object_of_json_is_refused(run: Any, text: str, fault: str) -> None:
    said = run("show", "-", stdin=text)
    assert (said.status, said.out) == (2, "")
    assert f"roundtable: -: {fault}" in said.err


def test_names_without_number_are_read_in_a_time_that_grows_with_them(run: Any) -> None:
    names = [f'"name_{number}": 0' for number in range(40_000)]
    text = '{"game": "camelot", "seats": 3, "facts": {' + ", ".join([*names, *names]) + "}}"
    started = time.process_time()
    said = run("show", "-", stdin=text)
    # Comparing each with each takes minutes.
    assert time.process_time() - started < 20
    assert said.status == 2
    assert said.err.count(": stands twice\n") == len(names)


def test_a_file_that_is_not_there_is_told(run: Any) -> None:
    said = run("show", "nowhere.json")
    assert (said.status, said.out) == (2, "")
    assert "No such file" in said.err
