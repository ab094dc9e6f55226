"""The boards draw every position, and say what is so."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from random import Random

import pytest
from rich.console import Console, RenderableType

from clients.choosing import choose_at_random
from clients.terminal.boards import PlainBoard, board_of
from clients.terminal.camelot import CamelotBoard
from engine.camelot.wire import WIRE
from engine.catalogue import GAMES
from engine.core.chance import Seed
from engine.core.positions import read_text
from engine.core.table import Table
from roundtable.camelot.v1 import camelot_pb2 as camelot
from roundtable.table.v1.table_pb2 import Outcome, Update, View

ROWS, COLUMNS = 24, 120


def drawn(picture: RenderableType) -> list[str]:
    console = Console(file=StringIO(), width=COLUMNS, height=ROWS)
    with console.capture() as capture:
        console.print(picture)
    return capture.get().splitlines()


def positions(seats: int, seed: int) -> Iterator[tuple[View, Update]]:
    """Every position of a random game, as seat 0 may know it."""
    random = Random(seed)
    table, _ = Table.new(GAMES.get("camelot"), seats, {}, Seed.fixed(seed))
    yield WIRE.view(table, 0), WIRE.update(table)
    while table.outcome is None:
        seat = random.choice(table.asked)
        question = table.question(seat)
        assert question is not None
        alone = [option.alone for option in question.options]
        places = choose_at_random(random, alone, question.least, question.most, ordered=question.ordered)
        table.answer_places(seat, tuple(places))
        yield WIRE.view(table, 0), WIRE.update(table)


@pytest.mark.parametrize("seats", [3, 5, 7])
def test_every_position_fits_a_small_terminal(seats: int) -> None:
    board = board_of("camelot")
    for view, update in positions(seats, seed=seats):
        lines = drawn(board.picture(view, update))
        assert len(lines) < ROWS
        assert f"move {update.version}" in lines[0]
        assert board.line(view, update)
    assert update.outcome.ending
    assert "traitor" in board.verdict(view, update.outcome)


def test_a_newcomer_who_waits_is_shown_as_one() -> None:
    table, _ = Table.new(GAMES.get("camelot"), 3, {}, Seed.fixed(1))
    table.join()
    board = CamelotBoard()
    assert drawn(board.picture(WIRE.view(table, 3), WIRE.update(table)))
    assert board.secrets(WIRE.view(table, 3)) == "(3): a newcomer, who sits down before the next turn"


def kingdom(**facts: object) -> View:
    knights = [
        camelot.KnightView(
            seat=seat,
            coat=coat,
            life=4,
            place=camelot.PLACE_CAMELOT,
            standing=camelot.STANDING_ALIVE,
            hand_size=5,
            traitor=seat == 1,
        )
        for seat, coat in enumerate((camelot.COAT_KAY, camelot.COAT_ARTHUR, camelot.COAT_TRISTAN))
    ]
    turn = camelot.TurnView(active=1, phase=camelot.PHASE_HEROIC, turns=8)
    view = View(seat=0)
    view.detail.Pack(camelot.View(turn=turn, order=[0, 1, 2], knights=knights, **facts))  # type: ignore[arg-type]
    return view


def test_the_round_table_shows_swords_engines_and_whose_turn_it_is() -> None:
    view = kingdom(white_swords=3, black_swords=2, engines=4, vivien=True)

    lines = drawn(CamelotBoard().picture(view, Update(version=40, asked=[0, 2])))[:5]

    assert [line.rstrip() for line in lines] == [
        "turn           9, King Arthur: heroic actions; move 40",
        "asked          Sir Kay, Sir Tristan",
        "swords         †††††·······  3 white, 2 black",
        "siege engines  ▲▲▲▲········  4",
        "in force       Vivien",
    ]


def test_quests_show_cards_values_and_who_is_there() -> None:
    groups = [camelot.CardGroup(cards=[camelot.CARD_FIGHT_3] * 2), camelot.CardGroup(cards=[camelot.CARD_FIGHT_5])]
    black = [
        camelot.BlackCardView(card=camelot.CARD_LANCELOT_DRAGON_5_9),
        camelot.BlackCardView(face_down=True, card=camelot.CARD_LANCELOT_DRAGON_1_5),
    ]
    lancelot = camelot.CombatView(
        place=camelot.PLACE_LANCELOT,
        in_play=True,
        groups=groups,
        group_sizes=[3, 2],
        white=11,
        black=black,
        black_slots=5,
    )
    dragon = camelot.CombatView(place=camelot.PLACE_DRAGON)
    war = camelot.WarView(
        place=camelot.PLACE_PICT_WAR, run=2, needed=[1, 2, 3, 4, 5, 5], warriors=3, warriors_to_lose=4, mordred=True
    )
    row = [camelot.CARD_GRAIL, camelot.CARD_GRAIL, *[camelot.CARD_UNSPECIFIED] * 3, *[camelot.CARD_DESPAIR] * 2]
    view = kingdom(
        combats=[lancelot, dragon],
        excalibur_in_play=True,
        excalibur=7,
        excalibur_steps=10,
        grail_in_play=True,
        grail=row,
        wars=[war],
        heroism=camelot.PLACE_PICT_WAR,
    )

    quests = drawn(CamelotBoard().picture(view, Update()))[7:12]

    assert [line.split(maxsplit=1)[1].split() for line in quests] == [
        ["3", "3", "·", "|", "5", "·", "=", "11", "5", "?", "·", "·", "·"],
        ["after", "Lancelot"],
        ["3", "steps", "to", "go", "7", "steps", "to", "go"],
        ["Grail", "●●·····", "●●·····"],
        ["War", "(Heroism)", "1", "2", "·", "·", "·", "·", "●●●·", "and", "Mordred"],
    ]


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ("siege", "evil and the traitor win: twelve siege engines stand around Camelot"),
        ("black_swords", "evil and the traitor win: seven black swords lie on the Round Table"),
        ("all_dead", "evil and the traitor win: no loyal knight lives"),
        ("twelfth_sword_lost", "evil and the traitor win: twelve swords lie"),
        ("twelfth_sword_won", "the loyal knights win: twelve swords lie"),
    ],
)
def test_the_verdict_tells_who_won_why_and_who_was_the_traitor(ending: str, words: str) -> None:
    verdict = CamelotBoard().verdict(kingdom(), Outcome(ending=ending))

    assert verdict.startswith(words)
    assert verdict.endswith("the traitor was King Arthur (seat 1, never unmasked)")


def test_a_game_without_a_board_is_shown_by_what_all_games_share() -> None:
    board = board_of("chess")
    outcome = Outcome(ending="check_mate", rule="R9", winners=[1])

    assert isinstance(board, PlainBoard)
    assert drawn(board.picture(View(), Update(version=3, asked=[0, 1]))) == ["move 3", "asked: seat 0, seat 1"]
    assert board.line(View(), Update(version=9, outcome=outcome)) == "check mate (R9); won by seat 1"
    assert board.verdict(View(), Outcome(ending="draw", rule="R8")) == "draw (R8); won by nobody"


def test_a_row_with_gaps_is_drawn_as_it_lies() -> None:
    table = read_text(GAMES, (Path(__file__).parents[2] / "positions" / "edge_case_37.json").read_text())
    table.answer(0, table.decision, ["grail"])
    (line,) = [
        line
        for line in drawn(board_of("camelot").picture(WIRE.view(table, 0), WIRE.update(table)))
        if line.startswith(" Holy Grail")
    ]
    assert line.split()[2:4] == ["●●·●●●●", "·······"]


def test_what_a_seat_alone_knows_is_told_in_a_line() -> None:
    table = read_text(GAMES, (Path(__file__).parents[2] / "positions" / "edge_case_37.json").read_text())
    board = board_of("camelot")
    assert board.secrets(WIRE.view(table, 0)) == "Sir Gawain (0): loyalty unseen; hand grail, grail, merlin"
    assert PlainBoard().secrets(WIRE.view(table, 0)) == ""
