"""Shadows over Camelot on a terminal: the only place where a client reads the game's own messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from roundtable.camelot.v1 import camelot_pb2 as camelot
from roundtable.table.v1.table_pb2 import Outcome, Update, View

PLACES: Mapping[camelot.Place.ValueType, str] = {
    camelot.PLACE_UNSPECIFIED: "-",
    camelot.PLACE_CAMELOT: "Camelot",
    camelot.PLACE_BLACK_KNIGHT: "Black Knight",
    camelot.PLACE_LANCELOT: "Lancelot",
    camelot.PLACE_DRAGON: "Dragon",
    camelot.PLACE_EXCALIBUR: "Excalibur",
    camelot.PLACE_GRAIL: "Holy Grail",
    camelot.PLACE_PICT_WAR: "Pict War",
    camelot.PLACE_SAXON_WAR: "Saxon War",
}
COATS: Mapping[camelot.Coat.ValueType, str] = {
    camelot.COAT_UNSPECIFIED: "Squire",
    camelot.COAT_ARTHUR: "King Arthur",
    camelot.COAT_GAWAIN: "Sir Gawain",
    camelot.COAT_GALAHAD: "Sir Galahad",
    camelot.COAT_KAY: "Sir Kay",
    camelot.COAT_PALAMEDES: "Sir Palamedes",
    camelot.COAT_PERCIVAL: "Sir Percival",
    camelot.COAT_TRISTAN: "Sir Tristan",
}
RELICS: Mapping[camelot.Relic.ValueType, str] = {
    camelot.RELIC_EXCALIBUR: "Excalibur",
    camelot.RELIC_LANCELOTS_ARMOR: "Armor",
    camelot.RELIC_HOLY_GRAIL: "Grail",
}
PHASES: Mapping[camelot.Phase.ValueType, str] = {
    camelot.PHASE_CHALLENGE: "who begins as a squire",
    camelot.PHASE_SHARING: "the knights share cards at the Round Table",
    camelot.PHASE_EVIL: "progression of evil",
    camelot.PHASE_HEROIC: "heroic actions",
    camelot.PHASE_TRAITOR: "the traitor's turn",
    camelot.PHASE_OVER: "the game is over",
}
OUT: Mapping[camelot.Standing.ValueType, str] = {
    camelot.STANDING_DEAD: "dead",
    camelot.STANDING_LEFT: "left",
}
REASONS: Mapping[str, str] = {
    "siege": "twelve siege engines stand around Camelot",
    "black_swords": "seven black swords lie on the Round Table",
    "all_dead": "no loyal knight lives",
    "twelfth_sword_won": "twelve swords lie on the Round Table, most of them white",
    "twelfth_sword_lost": "twelve swords lie on the Round Table, not most of them white",
}
ENGINES_DEFEAT = 12
SWORDS_END = 12
LIFE_MAX = 6

GOOD = "bright_white"
EVIL = "red"
GONE = "bright_black"


class CamelotBoard:
    def picture(self, view: View, update: Update) -> RenderableType:
        kingdom = _kingdom(view)
        return Group(_round_table(kingdom, update), "", _quests(kingdom), "", _knights(kingdom, update))

    def secrets(self, view: View) -> str:
        kingdom = _kingdom(view)
        if view.seat >= len(kingdom.knights):
            return f"({view.seat}): a newcomer, who sits down before the next turn"
        knight, own = kingdom.knights[view.seat], kingdom.private
        known = {
            "": ("the traitor" if knight.traitor else "loyal") if knight.HasField("traitor") else "loyalty unseen",
            "hand ": _cards(own.hand) or "empty",
            "top of the black pile ": _cards(own.known_top),
            "bottom of it ": _cards(own.known_bottom),
        }
        parts = "; ".join(name + what for name, what in known.items() if what)
        return f"{_name(kingdom, view.seat)} ({view.seat}): {parts}"

    def line(self, view: View, update: Update) -> str:
        kingdom = _kingdom(view)
        alive = sum(knight.standing == camelot.STANDING_ALIVE for knight in kingdom.knights)
        return (
            f"turn {kingdom.turn.turns + 1} of {_name(kingdom, kingdom.turn.active)}; "
            f"swords {kingdom.white_swords} white, {kingdom.black_swords} black; "
            f"siege engines {kingdom.engines}; knights {alive}"
        )

    def verdict(self, view: View, outcome: Outcome) -> str:
        kingdom = _kingdom(view)
        traitor = next((knight for knight in kingdom.knights if knight.traitor), None)
        if outcome.ending == "twelfth_sword_won":
            side = "the loyal knights win"
        elif traitor is None:
            side = "evil wins"
        else:
            side = "evil and the traitor win"
        who = "nobody was the traitor"
        if traitor is not None:
            shown = "unmasked" if traitor.loyalty_shown else "never unmasked"
            who = f"the traitor was {_name(kingdom, traitor.seat)} (seat {traitor.seat}, {shown})"
        return f"{side}: {REASONS[outcome.ending]}; {who}"


def _kingdom(view: View) -> camelot.View:
    kingdom = camelot.View()
    view.detail.Unpack(kingdom)
    return kingdom


def _name(kingdom: camelot.View, seat: int) -> str:
    return COATS[kingdom.knights[seat].coat]


def _cards(cards: Iterable[camelot.Card.ValueType]) -> str:
    return ", ".join(camelot.Card.Name(card).removeprefix("CARD_").lower() for card in cards)


def _pips(full: int, of: int, mark: str, style: str) -> Text:
    return Text.assemble((mark * full, style), ("·" * (of - full), GONE))


def _grid(columns: Mapping[str, int]) -> Grid:
    """Columns that keep their least width, so that a redrawn table stands still."""
    grid = Grid(box=None, padding=(0, 1))
    for heading, width in columns.items():
        grid.add_column(heading, min_width=width)
    return grid


def _round_table(kingdom: camelot.View, update: Update) -> RenderableType:
    turn = kingdom.turn
    swords = Text.assemble(
        ("†" * kingdom.white_swords, GOOD),
        ("†" * kingdom.black_swords, EVIL),
        ("·" * (SWORDS_END - kingdom.white_swords - kingdom.black_swords), GONE),
    )
    lasting = {"Vivien": kingdom.vivien, "Dark Forest": kingdom.dark_forest, "Mists of Avalon": kingdom.mists}
    grid = Grid.grid(padding=(0, 2))
    now = f"{turn.turns + 1}, {_name(kingdom, turn.active)}: {PHASES[turn.phase]}; move {update.version}"
    grid.add_row("turn", now)
    grid.add_row("asked", ", ".join(_name(kingdom, seat) for seat in update.asked) or "nobody")
    grid.add_row("swords", Text.assemble(swords, f"  {kingdom.white_swords} white, {kingdom.black_swords} black"))
    engines = _pips(kingdom.engines, ENGINES_DEFEAT, "▲", EVIL)
    grid.add_row("siege engines", Text.assemble(engines, f"  {kingdom.engines}"))
    grid.add_row("in force", ", ".join(name for name, on in lasting.items() if on) or "nothing")
    return grid


def _quests(kingdom: camelot.View) -> RenderableType:
    grid = _grid({"quest": 12, "the knights have": 24, "evil has": 16, "knights there": 24})

    def add(place: camelot.Place.ValueType, in_play: bool, good: Text, evil: Text) -> None:
        there = (_name(kingdom, knight.seat) for knight in kingdom.knights if knight.place == place)
        if in_play:
            heroism = " (Heroism)" if kingdom.heroism == place else ""
            grid.add_row(PLACES[place] + heroism, good, evil, ", ".join(there))
        else:
            to_come = place == camelot.PLACE_DRAGON and lancelot_rides
            grid.add_row(PLACES[place], "after Lancelot" if to_come else "over", style=GONE)

    lancelot_rides = any(combat.in_play for combat in kingdom.combats if combat.place == camelot.PLACE_LANCELOT)
    for combat in kingdom.combats:
        add(combat.place, combat.in_play, _groups(combat), _black_cards(combat))
    add(camelot.PLACE_EXCALIBUR, kingdom.excalibur_in_play, *_river(kingdom))
    add(camelot.PLACE_GRAIL, kingdom.grail_in_play, *_grail(kingdom))
    for war in kingdom.wars:
        mordred = " and Mordred" if war.mordred else ""
        warriors = _pips(war.warriors, war.warriors_to_lose, "●", EVIL)
        add(war.place, True, _slots(_run(war), len(war.needed)), Text.assemble(warriors, mordred))
    return grid


def _groups(combat: camelot.CombatView) -> Text:
    groups = zip(combat.groups, combat.group_sizes, strict=True)
    text = Text(" | ").join(_slots(map(_fight_value, group.cards), size) for group, size in groups)
    return Text.assemble(text, f"  = {combat.white}" if combat.white else "")


def _black_cards(combat: camelot.CombatView) -> Text:
    values = ("?" if laid.face_down else _black_value(laid.card, combat.place) for laid in combat.black)
    return _slots(values, combat.black_slots, EVIL)


def _river(kingdom: camelot.View) -> tuple[Text, Text]:
    return Text(f"{kingdom.excalibur_steps - kingdom.excalibur} steps to go"), Text(f"{kingdom.excalibur} steps to go")


def _grail(kingdom: camelot.View) -> tuple[Text, Text]:
    """The row's slots as each side counts them: the knights from the Grail outward, evil from the other end."""
    evil = [card not in (camelot.CARD_GRAIL, camelot.CARD_UNSPECIFIED) for card in reversed(kingdom.grail)]
    return _marks([card == camelot.CARD_GRAIL for card in kingdom.grail], GOOD), _marks(evil, EVIL)


def _marks(laid: Iterable[bool], style: str) -> Text:
    return Text.assemble(*(("●", style) if each else ("·", GONE) for each in laid))


def _run(war: camelot.WarView) -> list[str]:
    return [str(value) for value in war.needed[: war.run]]


def _fight_value(card: camelot.Card.ValueType) -> str:
    return camelot.Card.Name(card).removeprefix("CARD_FIGHT_")


def _black_value(card: camelot.Card.ValueType, place: camelot.Place.ValueType) -> str:
    """Cards of Lancelot's quest carry a second value, for the Dragon's that follows it."""
    values = [part for part in camelot.Card.Name(card).split("_") if part.isdigit()]
    return values[-1] if place == camelot.PLACE_DRAGON else values[0]


def _slots(laid: Iterable[str], slots: int, style: str = GOOD) -> Text:
    values = [Text(value, style) for value in laid]
    return Text(" ").join([*values, *[Text("·", GONE)] * (slots - len(values))])


def _knights(kingdom: camelot.View, update: Update) -> RenderableType:
    grid = _grid({"": 1, "knight": 17, "life": 6, "place": 12, "cards": 5, "relics": 16, " ": 12})
    for seat in kingdom.order:
        knight = kingdom.knights[seat]
        turn = "▶" if seat == kingdom.turn.active else ""
        name = f"{_name(kingdom, seat)} ({seat})"
        if knight.standing in OUT:
            grid.add_row(turn, name, OUT[knight.standing], style=GONE)
            continue
        life = _pips(knight.life, LIFE_MAX, "♥", EVIL)
        remarks = [remark for remark, on in _remarks(knight, asked=seat in update.asked) if on]
        relics = ", ".join(RELICS[relic] for relic in knight.relics)
        grid.add_row(turn, name, life, PLACES[knight.place], str(knight.hand_size), relics, ", ".join(remarks))
    return grid


def _remarks(knight: camelot.KnightView, *, asked: bool) -> Iterable[tuple[str, bool]]:
    yield "the traitor", knight.standing == camelot.STANDING_UNMASKED
    yield "loyal", knight.loyalty_shown and not knight.traitor
    yield "asked", asked
