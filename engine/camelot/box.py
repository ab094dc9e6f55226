"""What is in the box: the printed figures of cards, quests, knights and relics, and the options of a game.

They are read from `data/box.toml` and checked when this module is imported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import msgspec

from engine.core.data import index, load_toml, refuse

FILE = "engine/camelot/data/box.toml"

Count = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]
Loss = Annotated[int, msgspec.Meta(le=0)]
Confidence = Literal["H", "M", "L"]
"""H: rulebook, booklet or two independent sources; M: one source or an inference; L: unverified."""


class Constants(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Figures that belong to no single piece. The totals stand for what the rules say is in the box."""

    players_min: Positive
    players_max: Positive
    life_start: Positive
    life_min: Count
    life_max: Positive
    opening_white_cards: Count
    opening_merlins: Count
    swords_total: Positive
    swords_end: Positive
    black_swords_defeat: Positive
    engines_total: Positive
    engines_defeat: Positive
    saxons: Positive
    picts: Positive
    accuse_min_engines: Count
    accuse_min_swords: Count
    accusations_per_knight: Count
    hand_limit_for_draw_action: Positive
    draw_action_cards: Positive
    engine_die_sides: Positive
    merlins_to_cancel: Positive
    heal_cards: Positive
    heal_gain: Positive
    sacrifice_per_turn: Count
    traitor_end_flips: Count
    blind_loyalty_until_swords_3p: Count
    join_cards: Count
    join_life: Positive
    squire_hard_life: Positive
    white_total: Positive
    white_standard: Positive
    white_special: Positive
    black_total: Positive
    black_standard: Positive
    black_special: Positive
    loyalty_total: Positive
    quests_total: Positive
    taunt_cards: Count


class CardParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Figures in the text of a card; a card leaves those it does not use at 0."""

    amount: Count = 0
    look: Count = 0
    draw_per_gathered_knight: Count = 0
    loyal_draw_each: Count = 0
    traitor_discard_each_other: Count = 0
    extra_white_swords_if_won: Count = 0
    extra_black_swords_if_lost: Count = 0
    steps: Count = 0
    life_if_quest_over: Count = 0
    give_min: Count = 0
    give_max: Count = 0
    life_self: Count = 0
    life_each_other: Count = 0
    draw_self: Count = 0
    draw_each_other: Count = 0
    engines_if_quest_over: Count = 0
    extra_black_swords: Count = 0
    warriors: Count = 0
    extra_run_values: tuple[Positive, ...] = ()
    engines: Count = 0
    draws: Count = 0
    life: Loss = 0
    volunteer_discard: Count = 0
    volunteer_life: Loss = 0
    else_discard_each: Count = 0


class CardFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    name: str
    deck: Literal["white", "black", "loyalty"]
    kind: Literal["standard", "special", "loyal", "traitor"]
    copies: Positive
    source: str
    values: tuple[Positive, ...] = ()
    """One for each of the card's quests where it has several (Lancelot's, then the Dragon's)."""
    quest: str | None = None
    """Where a standard card belongs: a quest's id, or two joined by `_or_`."""
    params: CardParams = CardParams()
    confidence: Confidence = "H"

    @property
    def quests(self) -> tuple[str, ...]:
        return tuple(self.quest.split("_or_")) if self.quest else ()


class Victory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`life` is gained by each knight present; `white_cards` are shared by all of them."""

    white_swords: Positive
    life: Count
    white_cards: Count
    relic: str | None = None


class Defeat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`life`, never above 0, is added to each knight present."""

    black_swords: Positive
    life: Loss
    engines: Count = 0
    relic_lost: str | None = None


class QuestFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A quest has one of four boards: slots (`groups`), a track, a row or a run. Other figures are empty."""

    id: str
    name: str
    victory: Victory
    defeat: Defeat
    after: Literal["restart", "flip", "remove"]
    source: str
    solo: bool = False
    combat: bool = False
    follows: str | None = None
    """The quest on the other face of its board, which ends before this one begins."""
    groups: tuple[Positive, ...] = ()
    """White slots of a combat quest, by groups of equal cards."""
    black_slots: Count = 0
    steps_to_win: Count = 0
    steps_to_lose: Count = 0
    track_spaces: Count = 0
    track_start: Count = 0
    """Counted from 0, evil's end."""
    row_slots: Count = 0
    run: tuple[Positive, ...] = ()
    warriors: Count = 0
    """Figures that lose a war."""
    confidence: Confidence = "H"


class KnightFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`phase` is the part of a turn in which the power works; `any` includes turns of others."""

    id: str
    name: str
    phase: Literal["evil", "heroic", "any"]
    source: str
    confidence: Confidence = "H"


class RelicFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`fight_bonus` is added to the white total, `draw` replaces a draw of one, `life` is restored."""

    id: str
    name: str
    quest: str
    source: str
    fight_bonus: Count = 0
    draw: Count = 0
    life: Count = 0
    confidence: Confidence = "H"


class OptionFigures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    title: str
    values: tuple[bool | int | str, ...]
    default: bool | int | str


class Sheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file as it is written."""

    constants: Constants
    cards: tuple[CardFigures, ...]
    quests: tuple[QuestFigures, ...]
    knights: tuple[KnightFigures, ...]
    relics: tuple[RelicFigures, ...]
    options: tuple[OptionFigures, ...]


class Box(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The figures by id, in the order of the file: white, black and loyalty cards."""

    constants: Constants
    cards: Mapping[str, CardFigures]
    quests: Mapping[str, QuestFigures]
    knights: Mapping[str, KnightFigures]
    relics: Mapping[str, RelicFigures]
    options: tuple[OptionFigures, ...]


def build(sheet: Sheet, file: str = FILE) -> Box:
    """The box of a sheet, checked. Raises DataError for a repeated id, else a group of DataErrors."""
    index(sheet.options, lambda option: option.id, file, "options")
    box = Box(
        constants=sheet.constants,
        cards=index(sheet.cards, lambda card: card.id, file, "cards"),
        quests=index(sheet.quests, lambda quest: quest.id, file, "quests"),
        knights=index(sheet.knights, lambda knight: knight.id, file, "knights"),
        relics=index(sheet.relics, lambda relic: relic.id, file, "relics"),
        options=sheet.options,
    )
    check(box, file)
    return box


def check(box: Box, file: str = FILE) -> None:
    """Raise every contradiction between the figures, together."""
    refuse(file, _faults(box))


def _faults(box: Box) -> Iterator[tuple[str, str]]:
    yield from _totals(box)
    yield from _limits(box)
    yield from _cards(box)
    yield from _quests(box)
    yield from _relics(box)
    yield from _options(box)


def _totals(box: Box) -> Iterator[tuple[str, str]]:
    c = box.constants

    def copies(deck: str, *kinds: str) -> int:
        return sum(card.copies for card in box.cards.values() if card.deck == deck and card.kind in kinds)

    for total, said, found in (
        ("white_standard", c.white_standard, copies("white", "standard")),
        ("white_special", c.white_special, copies("white", "special")),
        ("white_total", c.white_total, c.white_standard + c.white_special),
        ("black_standard", c.black_standard, copies("black", "standard")),
        ("black_special", c.black_special, copies("black", "special")),
        ("black_total", c.black_total, c.black_standard + c.black_special),
        ("loyalty_total", c.loyalty_total, copies("loyalty", "loyal", "traitor")),
        ("quests_total", c.quests_total, len(box.quests)),
        ("players_max", c.players_max, len(box.knights)),
    ):
        if said != found:
            yield f"constants.{total}", f"is {said}, but the box holds {found}"


def _limits(box: Box) -> Iterator[tuple[str, str]]:
    c = box.constants
    merlins = box.cards["merlin"].copies if "merlin" in box.cards else 0
    for smaller, low, greater, high in (
        ("players_min", c.players_min, "players_max", c.players_max),
        ("life_min", c.life_min, "life_start", c.life_start),
        ("life_start", c.life_start, "life_max", c.life_max),
        ("join_life", c.join_life, "life_max", c.life_max),
        ("squire_hard_life", c.squire_hard_life, "life_start", c.life_start),
        ("swords_end", c.swords_end, "swords_total", c.swords_total),
        ("black_swords_defeat", c.black_swords_defeat, "swords_end", c.swords_end),
        ("engines_defeat", c.engines_defeat, "engines_total", c.engines_total),
        ("opening_merlins", c.opening_merlins * c.players_max, "the copies of merlin", merlins),
        ("merlins_to_cancel", c.merlins_to_cancel, "the copies of merlin", merlins),
        (
            "opening_white_cards",
            c.opening_white_cards * c.players_max,
            "white_total less the merlins",
            c.white_total - merlins,
        ),
    ):
        if low > high:
            yield f"constants.{smaller}", f"asks for {low}, more than {greater}, {high}"


def _cards(box: Box) -> Iterator[tuple[str, str]]:
    played = ("standard", "special")
    kinds = {"white": played, "black": played, "loyalty": ("loyal", "traitor")}
    for card in box.cards.values():
        place = f"cards.{card.id}"
        if card.kind not in kinds[card.deck]:
            yield f"{place}.kind", f"there is no {card.kind} card in the {card.deck} deck"
        for quest in card.quests:
            if quest not in box.quests:
                yield f"{place}.quest", f"no quest {quest}"
        if card.deck == "black" and card.kind == "standard" and not card.quests:
            yield f"{place}.quest", "a standard black card belongs to a quest"
        if card.quests and card.values and len(card.values) != len(card.quests):
            yield f"{place}.values", f"{len(card.values)} for {len(card.quests)} quests"
        if card.id.startswith("fight_") and card.id != f"fight_{'_'.join(map(str, card.values))}":
            yield f"{place}.values", "a fight card is named by its value"
        for value in card.params.extra_run_values:
            if (value,) not in _fight_values(box):
                yield f"{place}.params.extra_run_values", f"no fight card has the value {value}"
        if card.params.give_min > card.params.give_max:
            yield f"{place}.params.give_min", f"is above give_max, {card.params.give_max}"


def _quests(box: Box) -> Iterator[tuple[str, str]]:
    reserve = {"pict_war": box.constants.picts, "saxon_war": box.constants.saxons}
    flipped = {quest.id for quest in box.quests.values() if quest.after == "flip"}
    followed = {quest.follows for quest in box.quests.values() if quest.follows}
    fights = _fight_values(box)
    for quest in box.quests.values():
        place = f"quests.{quest.id}"
        boards = [bool(figure) for figure in (quest.groups, quest.track_spaces, quest.row_slots, quest.run)]
        if boards.count(True) != 1:
            yield place, "needs exactly one of groups, track_spaces, row_slots and run"
        if quest.combat != bool(quest.groups) or quest.combat != bool(quest.black_slots):
            yield f"{place}.combat", "a combat quest, and no other, has groups and black_slots"
        if quest.track_spaces and quest.track_spaces != quest.steps_to_lose + 1 + quest.steps_to_win:
            yield f"{place}.track_spaces", "is not steps_to_lose, the start and steps_to_win together"
        if quest.track_start != quest.steps_to_lose:
            yield f"{place}.track_start", f"is not {quest.steps_to_lose} steps from evil's end"
        if list(quest.run) != list(range(1, len(quest.run) + 1)):
            yield f"{place}.run", "does not rise from 1 by ones"
        for value in quest.run:
            if (value,) not in fights:
                yield f"{place}.run", f"no fight card has the value {value}"
        if bool(quest.run) != bool(quest.warriors):
            yield f"{place}.warriors", "a war, and no other quest, is lost to warriors"
        if quest.warriors > reserve.get(quest.id, 0):
            yield f"{place}.warriors", f"{quest.warriors} of a reserve of {reserve.get(quest.id, 0)}"
        if quest.follows and quest.follows not in flipped:
            yield f"{place}.follows", f"no quest {quest.follows} that flips"
        if quest.after == "flip" and quest.id not in followed:
            yield f"{place}.after", "flips, but no quest follows it"
        if quest.victory.relic is not None and quest.victory.relic not in box.relics:
            yield f"{place}.victory.relic", f"no relic {quest.victory.relic}"
        if quest.defeat.relic_lost != quest.victory.relic:
            yield f"{place}.defeat.relic_lost", f"is not the relic to be won, {quest.victory.relic}"


def _fight_values(box: Box) -> list[tuple[int, ...]]:
    return [card.values for card in box.cards.values() if card.id.startswith("fight_")]


def _relics(box: Box) -> Iterator[tuple[str, str]]:
    for relic in box.relics.values():
        quest = box.quests.get(relic.quest)
        if quest is None:
            yield f"relics.{relic.id}.quest", f"no quest {relic.quest}"
        elif quest.victory.relic != relic.id:
            yield f"relics.{relic.id}.quest", f"{quest.id} does not give it"
        if relic.life > box.constants.life_max:
            yield f"relics.{relic.id}.life", f"is above life_max, {box.constants.life_max}"


def _options(box: Box) -> Iterator[tuple[str, str]]:
    for option in box.options:
        place = f"options.{option.id}"
        # True equals 1 in Python, so the kind of a value counts as much as the value.
        values = [(type(value), value) for value in option.values]
        if len({kind for kind, _ in values}) != 1:
            yield f"{place}.values", "needs values, all of one kind"
        if len(set(values)) != len(values):
            yield f"{place}.values", "one is listed twice"
        if (type(option.default), option.default) not in values:
            yield f"{place}.default", f"{option.default!r} is not among the values"


BOX = build(load_toml("engine.camelot", "data/box.toml", Sheet))
