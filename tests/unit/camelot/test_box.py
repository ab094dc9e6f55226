"""The figures of the box are those of the rules; a data file with a fault is refused by name and place."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from importlib import resources

import pytest

from engine.camelot.box import BOX, FILE, Sheet, build
from engine.camelot.pieces import Card, Coat, Place, Relic, _check_ids
from engine.camelot.rulebook import RULES
from engine.core.data import DataError, load_toml, parse_rules, parse_toml

TEXT = resources.files("engine.camelot").joinpath("data/box.toml").read_text("utf-8")


def copies(deck: str, kind: str) -> int:
    return sum(card.copies for card in BOX.cards.values() if (card.deck, card.kind) == (deck, kind))


def broken(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new, 1)


def faults(text: str) -> list[DataError]:
    """What loading `text` raises, one by one."""

    def flat(error: BaseException) -> Iterator[DataError]:
        if isinstance(error, BaseExceptionGroup):
            for inner in error.exceptions:
                yield from flat(inner)
        else:
            assert isinstance(error, DataError)
            yield error

    with pytest.raises((DataError, ExceptionGroup)) as caught:
        build(parse_toml(text, FILE, Sheet))
    return list(flat(caught.value))


@pytest.mark.rule("R1.4")
@pytest.mark.parametrize(
    ("deck", "kind", "expected"),
    [
        ("white", "standard", 69),
        ("white", "special", 15),
        ("black", "standard", 64),
        ("black", "special", 12),
        ("loyalty", "loyal", 7),
        ("loyalty", "traitor", 1),
    ],
)
def test_each_part_of_the_decks_has_its_cards(deck: str, kind: str, expected: int) -> None:
    assert copies(deck, kind) == expected


@pytest.mark.rule("R1.4")
def test_the_box_holds_168_cards() -> None:
    assert sum(card.copies for card in BOX.cards.values()) == 168


def test_white_standard_cards_by_value() -> None:
    fights = {BOX.cards[f"fight_{value}"].values: BOX.cards[f"fight_{value}"].copies for value in range(1, 6)}
    assert fights == {(1,): 14, (2,): 12, (3,): 10, (4,): 8, (5,): 7}
    assert BOX.cards["grail"].copies == 18


def test_black_combat_cards_by_value() -> None:
    combat = {
        (card.quests, card.values): card.copies for card in BOX.cards.values() if card.deck == "black" and card.values
    }
    tournament = ("black_knight",)
    both = ("lancelot", "dragon")
    assert combat == {
        (tournament, (1,)): 5,
        (tournament, (3,)): 3,
        (tournament, (5,)): 2,
        (tournament, (7,)): 1,
        (both, (1, 5)): 4,
        (both, (3, 7)): 3,
        (both, (5, 9)): 3,
        (both, (7, 11)): 1,
    }


@pytest.mark.rule("R1.3", "R1.5", "R1.6", "R1.7")
def test_pieces() -> None:
    c = BOX.constants
    assert c.swords_total == 16
    assert c.engine_die_sides == 8
    assert (c.life_min, c.life_start, c.life_max) == (0, 4, 6)
    assert list(BOX.knights) == ["arthur", "gawain", "galahad", "kay", "palamedes", "percival", "tristan"]
    assert (c.engines_total, len(BOX.relics), c.saxons, c.picts, len(BOX.knights)) == (12, 3, 4, 4, 7)


@pytest.mark.rule("R1.2")
def test_the_dragon_is_the_other_face_of_lancelot() -> None:
    assert {quest.id: quest.follows for quest in BOX.quests.values() if quest.follows} == {"dragon": "lancelot"}
    assert [quest.id for quest in BOX.quests.values() if quest.after == "flip"] == ["lancelot"]


@pytest.mark.rule("R8.3")
@pytest.mark.parametrize(
    ("quest", "victory", "defeat", "after"),
    [
        ("black_knight", (1, 1, 3, None), (1, -1, 0, None), "restart"),
        ("lancelot", (1, 1, 4, "lancelots_armor"), (1, -1, 0, "lancelots_armor"), "flip"),
        ("dragon", (2, 2, 7, None), (2, -2, 0, None), "remove"),
        ("excalibur", (2, 1, 7, "excalibur"), (2, -1, 0, "excalibur"), "remove"),
        ("grail", (3, 1, 7, "holy_grail"), (3, -1, 0, "holy_grail"), "remove"),
        ("pict_war", (1, 1, 4, None), (1, -1, 2, None), "restart"),
        ("saxon_war", (1, 1, 4, None), (1, -1, 2, None), "restart"),
    ],
)
def test_rewards_and_penalties(
    quest: str,
    victory: tuple[int, int, int, str | None],
    defeat: tuple[int, int, int, str | None],
    after: str,
) -> None:
    figures = BOX.quests[quest]
    won, lost = figures.victory, figures.defeat
    assert (won.white_swords, won.life, won.white_cards, won.relic) == victory
    assert (lost.black_swords, lost.life, lost.engines, lost.relic_lost) == defeat
    assert figures.after == after


@pytest.mark.rule("R10.1", "R11.2")
def test_boards() -> None:
    q = BOX.quests
    slots = {quest.id: (quest.groups, quest.black_slots) for quest in q.values() if quest.combat}
    assert slots == {"black_knight": ((2, 2), 4), "lancelot": ((3, 2), 5), "dragon": ((3, 3, 3), 5)}
    river = q["excalibur"]
    assert (river.track_spaces, river.track_start, river.steps_to_win, river.steps_to_lose) == (11, 5, 5, 5)
    assert q["grail"].row_slots == 7
    wars = {quest.id: (quest.run, quest.warriors) for quest in q.values() if quest.run}
    assert wars == {"pict_war": ((1, 2, 3, 4, 5), 4), "saxon_war": ((1, 2, 3, 4, 5), 4)}


def test_solo_quests() -> None:
    assert [quest.id for quest in BOX.quests.values() if quest.solo] == ["black_knight", "lancelot"]


@pytest.mark.rule("R20.10")
def test_options_and_their_defaults() -> None:
    assert {option.id: option.default for option in BOX.options} == {
        "persistent_black_duration": "until_quest_won",
        "traitor_in_deck": "standard8",
        "squires": False,
        "squire_start_life": 4,
        "squire_start_cards": 5,
        "blind_loyalty_3p": True,
        "unmasked_traitor_steals_card": True,
        "armor_when_black_card_ends_lancelot": "knight_present",
        "heal_with_merlins": False,
        "allow_zero_card_engine_fight": True,
        "end_flips_trigger_seven_black": False,
        "convocation_return": "may",
        "excalibur_cancels": "standard",
        "excalibur_cancel_drawer": "any",
        "desolation_effect": "replace_grail",
        "traitor_voluntary_reveal": True,
        "guinevere_stops_morgan_draws": False,
    }


def test_the_file_as_shipped_is_the_box() -> None:
    assert build(parse_toml(TEXT, FILE, Sheet)) == BOX


@pytest.mark.parametrize(
    ("old", "new", "place", "problem"),
    [
        ("[constants]", "[constants", "line 98, column 11", "Expected ']' at the end of a table declaration"),
        ("picts = 4\n", "picts = 4\npict = 4\n", "constants", "Object contains unknown field `pict`"),
        ("picts = 4\n", "", "constants", "Object missing required field `picts`"),
        ("copies = 14", 'copies = "14"', "cards[0].copies", "Expected `int`, got `str`"),
        ("copies = 14", "copies = 0", "cards[0].copies", "Expected `int` >= 1"),
        ("groups = [2, 2]", "groups = [2, 0]", "quests[0].groups[1]", "Expected `int` >= 1"),
        ("look = 5", "peek = 5", "cards[7].params", "Object contains unknown field `peek`"),
        ('id = "fight_2"', 'id = "fight_1"', "cards", "fight_1 is listed twice"),
        ('id = "gawain"', 'id = "arthur"', "knights", "arthur is listed twice"),
        ('id = "squire_start_life"', 'id = "squires"', "options", "squires is listed twice"),
    ],
)
def test_a_file_that_cannot_be_read_names_the_place(old: str, new: str, place: str, problem: str) -> None:
    [fault] = faults(broken(old, new))
    assert (fault.file, fault.place, fault.problem) == (FILE, place, problem)
    assert str(fault) == f"{FILE}: {place}: {problem}"


@pytest.mark.parametrize(
    ("old", "new", "place", "problem"),
    [
        ("white_total = 84", "white_total = 85", "constants.white_total", "is 85, but the box holds 84"),
        ("copies = 14", "copies = 15", "constants.white_standard", "is 69, but the box holds 70"),
        ("quests_total = 7", "quests_total = 8", "constants.quests_total", "is 8, but the box holds 7"),
        (
            "swords_end = 12",
            "swords_end = 17",
            "constants.swords_end",
            "asks for 17, more than swords_total, 16",
        ),
        (
            "opening_merlins = 1",
            "opening_merlins = 2",
            "constants.opening_merlins",
            "asks for 14, more than the copies of merlin, 7",
        ),
        (
            "opening_white_cards = 5",
            "opening_white_cards = 50",
            "constants.opening_white_cards",
            "asks for 350, more than white_total less the merlins, 77",
        ),
        ("values = [2], source", "values = [6], source", "cards.fight_2.values", "a fight card is named by its value"),
        ("values = [2], source", "values = [6], source", "quests.pict_war.run", "no fight card has the value 2"),
        (
            "run = [1, 2, 3, 4, 5]",
            "run = [1, 2, 3, 4, 5, 6]",
            "quests.pict_war.run",
            "no fight card has the value 6",
        ),
        (
            "extra_run_values = [5]",
            "extra_run_values = [6]",
            "cards.mordred.params.extra_run_values",
            "no fight card has the value 6",
        ),
        (
            'kind = "traitor"',
            'kind = "special"',
            "cards.traitor.kind",
            "there is no special card in the loyalty deck",
        ),
        ('quest = "black_knight"', 'quest = "joust"', "cards.black_knight_1.quest", "no quest joust"),
        ('quest = "saxon_war", ', "", "cards.saxons.quest", "a standard black card belongs to a quest"),
        ("values = [3, 7]", "values = [3]", "cards.lancelot_dragon_3_7.values", "1 for 2 quests"),
        ("give_min = 1", "give_min = 4", "cards.messenger.params.give_min", "is above give_max, 3"),
        (
            "groups = [2, 2]",
            "row_slots = 4\ngroups = [2, 2]",
            "quests.black_knight",
            "needs exactly one of groups, track_spaces, row_slots and run",
        ),
        (
            "black_slots = 4",
            "black_slots = 0",
            "quests.black_knight.combat",
            "a combat quest, and no other, has groups and black_slots",
        ),
        (
            "track_spaces = 11",
            "track_spaces = 12",
            "quests.excalibur.track_spaces",
            "is not steps_to_lose, the start and steps_to_win together",
        ),
        (
            "track_start = 5",
            "track_start = 6",
            "quests.excalibur.track_start",
            "is not 5 steps from evil's end",
        ),
        ("run = [1, 2, 3, 4, 5]", "run = [1, 2, 4]", "quests.pict_war.run", "does not rise from 1 by ones"),
        (
            "warriors = 4",
            "warriors = 0",
            "quests.pict_war.warriors",
            "a war, and no other quest, is lost to warriors",
        ),
        ("warriors = 4", "warriors = 5", "quests.pict_war.warriors", "5 of a reserve of 4"),
        ('follows = "lancelot"', 'follows = "grail"', "quests.dragon.follows", "no quest grail that flips"),
        (
            'follows = "lancelot"\n',
            "",
            "quests.lancelot.after",
            "flips, but no quest follows it",
        ),
        (
            'white_cards = 7, relic = "holy_grail"',
            'white_cards = 7, relic = "chalice"',
            "quests.grail.victory.relic",
            "no relic chalice",
        ),
        (
            'relic_lost = "holy_grail"',
            'relic_lost = "excalibur"',
            "quests.grail.defeat.relic_lost",
            "is not the relic to be won, holy_grail",
        ),
        (
            'quest = "lancelot", draw',
            'quest = "joust", draw',
            "relics.lancelots_armor.quest",
            "no quest joust",
        ),
        (
            'quest = "lancelot", draw',
            'quest = "dragon", draw',
            "relics.lancelots_armor.quest",
            "dragon does not give it",
        ),
        ("life = 4, source", "life = 7, source", "relics.holy_grail.life", "is above life_max, 6"),
        (
            'default = "may"',
            'default = "can"',
            "options.convocation_return.default",
            "'can' is not among the values",
        ),
        (
            "values = [false, true], default = false",
            "values = [false, true], default = 0",
            "options.squires.default",
            "0 is not among the values",
        ),
        (
            "values = [4, 3]",
            "values = [4, true]",
            "options.squire_start_life.values",
            "needs values, all of one kind",
        ),
        ("values = [4, 3]", "values = [4, 4]", "options.squire_start_life.values", "one is listed twice"),
    ],
)
def test_figures_that_contradict_each_other_are_refused(old: str, new: str, place: str, problem: str) -> None:
    found = [(fault.file, fault.place, fault.problem) for fault in faults(broken(old, new))]
    assert (FILE, place, problem) in found


@pytest.mark.parametrize(
    ("place", "pieces", "left_out", "added"),
    [
        ("cards", Card, "merlin", "mordreds"),
        ("quests", Place, "dragon", "joust"),
        ("knights", Coat, "kay", "bors"),
        ("relics", Relic, "excalibur", "round_table"),
    ],
)
def test_pieces_that_the_rules_do_not_know_or_miss_are_refused(
    place: str, pieces: type[IntEnum], left_out: str, added: str
) -> None:
    ids = [piece.name.lower() for piece in pieces if piece]
    _check_ids(place, ids, pieces)
    ids[ids.index(left_out)] = added

    with pytest.raises(ExceptionGroup) as caught:
        _check_ids(place, ids, pieces)
    assert [str(fault) for fault in caught.value.exceptions] == [
        f"{FILE}: {place}.{added}: the rules know no such piece",
        f"{FILE}: {place}.{left_out}: is missing",
    ]


def test_several_faults_are_listed_together() -> None:
    text = broken("copies = 14", "copies = 13").replace('default = "any"', 'default = "all"')
    with pytest.raises(ExceptionGroup) as caught:
        build(parse_toml(text, FILE, Sheet))
    assert [str(fault) for fault in caught.value.exceptions] == [
        f"{FILE}: constants.white_standard: is 69, but the box holds 68",
        f"{FILE}: options.excalibur_cancel_drawer.default: 'all' is not among the values",
    ]
    assert all(str(fault) in str(caught.value) for fault in caught.value.exceptions)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(DataError) as caught:
        load_toml("engine.camelot", "data/crate.toml", Sheet)
    assert caught.value.file == "engine/camelot/data/crate.toml"


def test_every_rule_has_a_short_title() -> None:
    assert len(RULES) == 204
    assert [rule.number for rule in RULES.values() if not 0 < len(rule.title) <= 70] == []


def test_a_rule_listed_twice_is_refused() -> None:
    text = "rules = [{number='R1', title='a', page=''}, {number='R1', title='b', page=''}]"
    with pytest.raises(DataError, match=r"^rules\.toml: rules: R1 is listed twice$"):
        parse_rules(text, "rules.toml")
