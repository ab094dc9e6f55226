"""A moment of any game as one file that people can read and write: for bug reports, puzzles, tests and disputes.

A position is an object of JSON. Only `game` is needed; whatever else is left out is as at the set-up.

game           id of the game
rules_version  the position is refused under another one
seats          how many are dealt for, where the facts do not tell
options        values of game options by id
seed           a number that decides what is dealt and all chance after it; 0 if left out
chance         instead of a seed, the chance of a game in play: its `secret` and `contributions` as hexadecimal
               digits, and how many words of it were `used`
facts          the state in which no rule was half-way through, in the game's own words (see `engine.core.facts`)
inputs         what came since then, in order: the `seat`, the ids of its `picks`, and the `kind` of input if it is
               not an answer (default, order, leave, join)
orders         standing orders by seat: option id by key of the question
departures     seats that leave at the next safe point of the rules
arrivals       seats that join there
asks           how many asks came before the facts
version        how many inputs the game has had altogether
history        digest of the history up to now, as hexadecimal digits
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NoReturn

import msgspec

from engine.core.chance import CONTRIBUTION_BYTES_MAX, SECRET_BYTES, Chance, Seed
from engine.core.errors import Reason, Refusal
from engine.core.facts import Fault, Reading, over, without
from engine.core.games import AnyGame, Game, Play, Registry
from engine.core.table import Input, InputKind, Mark, Table

KINDS = {
    "answer": InputKind.ANSWER,
    "default": InputKind.DEFAULT,
    "order": InputKind.ORDER,
    "leave": InputKind.LEAVE,
    "join": InputKind.JOIN,
}
HISTORY_BYTES = 16
_MOST = 1 << 24
"""More asks or inputs than any game has."""
_DEEPEST = 16
"""So many lists and objects within each other are more than any game's facts have."""
_LONGEST_LINE = 110


class PositionError(ValueError):
    """A description that stands for no moment of a game; `faults` names everything that is wrong with it."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults


# Writing


def write(table: Table) -> dict[str, Any]:
    """The position of a table, with all that is secret in it. Reading it gives a table that goes on in the same way."""
    game, mark = table.game, table.mark
    position: dict[str, Any] = {"game": game.id, "rules_version": game.rules_version}
    defaults = game.parse_options({})
    options = {
        name: value
        for name, value in msgspec.to_builtins(table.play.options).items()
        if value != getattr(defaults, name)
    }
    seed = table.seed
    chance: dict[str, Any] = {"secret": seed.secret.hex(), "used": mark.used}
    if seed.contributions:
        chance["contributions"] = [each.hex() for each in seed.contributions]
    facts = game.facts.write(game.decode_state(mark.state))
    seats = len(game.seats_of(table.play)) - len(table.play.arrivals)
    parts = {
        "seats": seats if game.seats_of_facts(facts) is None else None,
        "options": options,
        "chance": chance,
        "facts": without(facts, game.set_up_facts(facts, seats, table.play.options)),
        "inputs": [_written(given, picks) for given, picks in table.since_mark()],
        "orders": {str(seat): orders for seat, orders in table.orders.items()},
        "departures": list(mark.departures),
        "arrivals": list(mark.arrivals),
        "asks": mark.asks,
        "version": table.version,
        "history": table.history.hex() if table.version else "",
    }
    return position | {name: part for name, part in parts.items() if part}


def _written(given: Input, picks: tuple[str, ...]) -> dict[str, Any]:
    written: dict[str, Any] = {"seat": given.seat}
    if given.kind <= InputKind.ORDER:
        written["picks"] = list(picks)
    if given.kind is not InputKind.ANSWER:
        written["kind"] = next(name for name, kind in KINDS.items() if kind is given.kind)
    return written


def to_text(position: Mapping[str, Any]) -> str:
    """A position as people like to read it: what fits in a line is in a line."""
    return "".join(_lines(position, "", "")) + "\n"


def _lines(value: Any, before: str, indent: str) -> Iterator[str]:
    line = json.dumps(value, ensure_ascii=False)
    if (len(indent) + len(before) + len(line) <= _LONGEST_LINE and indent) or not isinstance(value, (dict, list)):
        yield before + line
        return
    inner = indent + "  "
    if isinstance(value, list) and not any(isinstance(each, (dict, list)) for each in value):
        yield before + "["
        width = _LONGEST_LINE
        for place, each in enumerate(value):
            part = json.dumps(each, ensure_ascii=False) + ("," if place < len(value) - 1 else "")
            if width + len(part) >= _LONGEST_LINE:
                yield f"\n{inner}"
                width = len(inner)
            else:
                part = " " + part
            yield part
            width += len(part)
        yield f"\n{indent}]"
        return
    first, last = "{}" if isinstance(value, dict) else "[]"
    yield before + first
    parts = (
        [(f"{json.dumps(name)}: ", each) for name, each in value.items()]
        if isinstance(value, dict)
        else [("", each) for each in value]
    )
    for place, (name, each) in enumerate(parts):
        yield f"\n{inner}"
        yield from _lines(each, name, inner)
        if place < len(parts) - 1:
            yield ","
    yield f"\n{indent}{last}"


# Reading


def read_text(games: Registry, text: str) -> Table:
    """The table of a position. Raises `PositionError`."""
    doubled: dict[int, tuple[dict[str, Any], list[str]]] = {}

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(found)
        if len(made) < len(found):
            counted = Counter(name for name, _ in found)
            # The object is kept with its names, so that no other one gets its identity.
            doubled[id(made)] = made, [name for name, number in counted.items() if number > 1]
        return made

    def refuse(number: str) -> NoReturn:
        raise ValueError(f"{number} is no number")

    try:
        position = json.loads(text, object_pairs_hook=pairs, parse_constant=refuse)
    except (ValueError, RecursionError) as fault:
        raise PositionError([Fault("(file)", f"this is not JSON: {fault}")]) from fault
    reading = Reading()
    if doubled:
        for trail, value in _parts(position):
            if isinstance(value, dict) and id(value) in doubled:
                for name in doubled[id(value)][1]:
                    reading.fault(_path((trail, f".{name}")), "stands twice")
    return read(games, position, reading)


_Trail = tuple[Any, str]
"""The way to a part of a position: the trail of what it is in, and the last step. A path is made of it at a fault."""


def _parts(position: Any) -> Iterator[tuple[_Trail | None, Any]]:
    """Everything within a position, down to what is too deep in it, which is not entered."""
    parts: list[tuple[_Trail | None, Any, int]] = [(None, position, 0)]
    while parts:
        trail, value, depth = parts.pop()
        yield trail, value
        if depth >= _DEEPEST:
            continue
        if isinstance(value, dict):
            parts += [((trail, f".{name}"), each, depth + 1) for name, each in reversed(value.items())]
        if isinstance(value, list):
            parts += [((trail, f"[{place}]"), value[place], depth + 1) for place in reversed(range(len(value)))]


def _path(trail: _Trail | None) -> str:
    steps: list[str] = []
    while trail is not None:
        trail, step = trail
        steps.append(step)
    # What is no text can be told nevertheless.
    return "".join(reversed(steps)).lstrip(".").encode(errors="backslashreplace").decode() or "(file)"


def _is_text(value: str) -> bool:
    """Whether every character is one: JSON can have halves of characters."""
    return value.isascii() or not any("\ud800" <= character <= "\udfff" for character in value)


def _unreadable(position: Any) -> Iterator[Fault]:
    """What no reader can go through or tell of."""
    for trail, value in _parts(position):
        if trail is not None and not _is_text(trail[1]):
            yield Fault(_path(trail), "the name is not text")
        if isinstance(value, str) and not _is_text(value):
            yield Fault(_path(trail), "is not text")
        if isinstance(value, (dict, list)) and _depth(trail) >= _DEEPEST:
            yield Fault(_path(trail), f"a position is at most {_DEEPEST} lists and objects deep")


def _depth(trail: _Trail | None) -> int:
    depth = 0
    while trail is not None:
        depth += 1
        trail = trail[0]
    return depth


def read(games: Registry, position: Any, reading: Reading | None = None) -> Table:
    """The table of a position that has been parsed, and what is wrong with it so far. Raises `PositionError`."""
    reading = reading or Reading()
    if unreadable := list(_unreadable(position)):
        raise PositionError(reading.faults + unreadable)
    table = _Reader(games, position, reading).table()
    if table is None or reading.faults:
        raise PositionError(reading.faults)
    return table


def set_up(game: AnyGame, facts: Mapping[str, Any], options: Mapping[str, str] | None = None, seed: int = 0) -> Table:
    """The table of a position that tells nothing else. Raises `PositionError`."""
    return read(Registry([game]), {"game": game.id, "facts": facts, "options": options or {}, "seed": seed})


class _Reader:
    """Reads a position and notes every fault that can be seen."""

    NAMES = (
        *("game", "rules_version", "seats", "options", "seed", "chance", "facts", "inputs"),
        *("orders", "departures", "arrivals", "asks", "version", "history"),
    )

    def __init__(self, games: Registry, position: Any, reading: Reading) -> None:
        self._games = games
        self._reading = reading
        self._position: dict[str, Any] = position if isinstance(position, dict) else {}
        if not isinstance(position, dict):
            reading.fault("(file)", "a position is an object")

    def table(self) -> Table | None:
        for name in self._position:
            if name not in self.NAMES:
                self._reading.fault(name, "a position has no such part")
        game = self._game()
        if game is None:
            return None
        options = self._options(game)
        seed, used = self._seed()
        facts = self._part("facts", dict)
        seats = self._seats(game, facts or {})
        asks, version = self._number("asks", _MOST), self._number("version", _MOST)
        departures, arrivals = self._some_seats("departures"), self._some_seats("arrivals")
        history = self._hexadecimal("history", HISTORY_BYTES)
        orders = self._orders(seats)
        inputs = self._inputs()
        chance = Chance(seed, used)
        if facts is None:
            state = game.deal(seats, options, chance)
        else:
            state = self._state(game, facts, seats, options, chance)
        if not self._reading.faults:
            self._come_and_go(game, game.play(state, options, chance), departures, arrivals)
        if self._reading.faults:
            return None
        mark = Mark(msgspec.msgpack.encode(state), chance.used, asks or 0, departures, arrivals)
        table = self._resume(game, options, seed, mark, inputs)
        if table is not None:
            table.orders = orders
            table.version = table.version if version is None else version
            table.history = table.history if history is None else history
        return table

    def _game(self) -> AnyGame | None:
        given = self._position.get("game")
        try:
            game = self._games.get(given) if isinstance(given, str) else None
        except Refusal:
            game = None
        if game is None:
            what = "there is no such game" if "game" in self._position else "is missing"
            self._reading.fault("game", f"{what}; there is {', '.join(sorted(each.id for each in self._games))}")
            return None
        version = self._number("rules_version")
        if version not in (None, game.rules_version):
            self._reading.fault("rules_version", f"the rules here are of version {game.rules_version}")
        return game

    def _options(self, game: AnyGame) -> Any:
        chosen = {}
        for name, value in (self._part("options", dict) or {}).items():
            text = str(value).lower() if isinstance(value, (bool, int)) else value
            try:
                if not isinstance(text, str):
                    raise Refusal(Reason.GAME_OPTION_VALUE, "an option's value is a text")
                game.parse_options({name: text})
                chosen[name] = text
            except Refusal as refusal:
                self._reading.fault(f"options.{name}", refusal.message)
        return game.parse_options(chosen)

    def _seed(self) -> tuple[Seed, int]:
        number, chance = self._number("seed", 1 << 64), self._part("chance", dict)
        if chance is None:
            return Seed.fixed(number or 0), 0
        if number is not None:
            self._reading.fault("seed", "there is a seed or a chance, not both")
        for name in chance:
            if name not in ("secret", "contributions", "used"):
                self._reading.fault(f"chance.{name}", "a chance has no such part")
        secret = self._bytes(chance.get("secret"), "chance.secret", SECRET_BYTES, SECRET_BYTES)
        contributions = chance.get("contributions", [])
        if not isinstance(contributions, list):
            self._reading.fault("chance.contributions", "is not a list")
            contributions = []
        added = tuple(
            self._bytes(each, f"chance.contributions[{place}]", 0, CONTRIBUTION_BYTES_MAX)
            for place, each in enumerate(contributions)
        )
        used = self._whole(chance.get("used", 0), "chance.used", 1 << 63)
        return Seed(secret, added, verifiable=False), used

    def _seats(self, game: AnyGame, facts: dict[str, Any]) -> int:
        told, counted = self._number("seats"), game.seats_of_facts(facts)
        seats = told if counted is None else counted
        if told != counted and told is not None and counted is not None:
            self._reading.fault("seats", f"the facts are about {counted}")
        if seats is None:
            self._reading.fault("seats", "is missing, and the facts do not tell")
        elif seats not in game.seats:
            at = "facts" if told is None else "seats"
            self._reading.fault(at, f"{game.title} takes {game.seats.start} to {game.seats.stop - 1} seats")
        return seats if seats is not None and seats in game.seats else game.seats.start

    def _orders(self, seats: int) -> dict[int, dict[str, str]]:
        orders = {}
        for seat, given in (self._part("orders", dict) or {}).items():
            if seat not in map(str, range(seats)):
                self._reading.fault(f"orders.{seat}", "there is no such seat")
            elif not isinstance(given, dict) or not all(isinstance(each, str) for each in given.values()):
                self._reading.fault(f"orders.{seat}", "orders are option ids by key of the question")
            else:
                orders[int(seat)] = dict(given)
        return orders

    def _inputs(self) -> list[tuple[InputKind, int, list[str]]]:
        inputs = []
        for place, given in enumerate(self._part("inputs", list) or []):
            path = f"inputs[{place}]"
            if not isinstance(given, dict):
                self._reading.fault(path, "an input is an object")
                continue
            for name in given:
                if name not in ("seat", "picks", "kind"):
                    self._reading.fault(f"{path}.{name}", "an input has no such part")
            named = given.get("kind", "answer")
            kind = KINDS.get(named) if isinstance(named, str) else None
            if kind is None:
                self._reading.fault(f"{path}.kind", f"is none of {', '.join(KINDS)}")
            picks = given.get("picks", [])
            if not isinstance(picks, list) or not all(isinstance(each, str) for each in picks):
                self._reading.fault(f"{path}.picks", "picks are a list of option ids")
            seat = self._whole(given.get("seat"), f"{path}.seat", 1 << 8)
            inputs.append((kind or InputKind.ANSWER, seat, picks))
        return inputs

    # The state

    def _state(self, game: AnyGame, facts: dict[str, Any], seats: int, options: Any, chance: Chance) -> Any:
        reading = self._reading
        base = game.set_up_facts(facts, seats, options)
        state = game.facts.read(over(base, facts), "facts", reading)
        if reading.broken:
            return state
        play = game.play(state, options, chance)
        reading.fill(game.decks(play), chance)
        game.tidy(state)
        reading.faults += faults_of(game, play, reading, resting=True)
        return state

    def _come_and_go(
        self, game: AnyGame, play: Play[Any, Any], departures: tuple[int, ...], arrivals: tuple[int, ...]
    ) -> None:
        """Whoever is to leave or to sit down could say so here, one after the other."""
        if departures and type(game).depart is not Game.depart:
            self._reading.fault("departures", "a seat leaves this game at once: give it as an input")
            return
        for place, seat in enumerate(departures):
            path = f"departures[{place}]"
            try:
                if seat not in game.seats_of(play):
                    raise Refusal(Reason.SEATS_FIXED, "there is no such seat")
                if seat in play.departures:
                    raise Refusal(Reason.SEATS_FIXED, "this seat is listed twice")
                game.may_leave(play, seat)
                game.depart(play, seat)
            except Refusal as refusal:
                self._reading.fault(path, refusal.message)
                return
        for place, seat in enumerate(arrivals):
            path = f"arrivals[{place}]"
            try:
                following = game.may_join(play)
            except Refusal as refusal:
                self._reading.fault(path, refusal.message)
                return
            if seat != following:
                self._reading.fault(path, f"the next seat is {following}")
                return
            play.arrivals.append(seat)

    def _resume(
        self, game: AnyGame, options: Any, seed: Seed, mark: Mark, inputs: list[tuple[InputKind, int, list[str]]]
    ) -> Table | None:
        try:
            table = Table.resume(game, options, seed, mark)
        except Exception as fault:
            # Whatever the game's invariants do not see, nobody can play from here.
            self._reading.fault("facts", f"the rules cannot go on from here ({type(fault).__name__})")
            return None
        for place, (kind, seat, picks) in enumerate(inputs):
            try:
                asked = table.question(seat) if kind <= InputKind.ORDER else None
                ask = int(table.decision) if kind <= InputKind.ORDER else 0
                table.take(
                    Input(kind, seat, ask, () if asked is None else asked.places(picks, partial(table.explain, seat)))
                )
            except Refusal as refusal:
                cause = refusal.__cause__ if isinstance(refusal.__cause__, Refusal) else refusal
                self._reading.fault(f"inputs[{place}]", cause.message + (f" ({cause.rule})" if cause.rule else ""))
                return None
        return table

    # Values

    def _part(self, name: str, kind: type) -> Any:
        given = self._position.get(name)
        if given is not None and not isinstance(given, kind):
            self._reading.fault(name, "is not an object" if kind is dict else "is not a list")
            return None
        return given

    def _number(self, name: str, top: int = 1 << 63) -> int | None:
        given = self._position.get(name)
        return None if given is None else self._whole(given, name, top)

    def _whole(self, given: Any, path: str, top: int) -> int:
        if type(given) is not int or not 0 <= given < top:
            self._reading.fault(path, f"is not a whole number from 0 to {top - 1}")
            return 0
        return given

    def _some_seats(self, name: str) -> tuple[int, ...]:
        given = self._part(name, list) or []
        return tuple(self._whole(each, f"{name}[{place}]", 1 << 8) for place, each in enumerate(given))

    def _hexadecimal(self, name: str, size: int) -> bytes | None:
        given = self._position.get(name)
        return None if given is None else self._bytes(given, name, size, size)

    def _bytes(self, given: Any, path: str, least: int, most: int) -> bytes:
        try:
            value = bytes.fromhex(given)
        except (TypeError, ValueError):
            value = None
        if value is None or not least <= len(value) <= most:
            self._reading.fault(
                path,
                f"is not {least} bytes in hexadecimal digits"
                if least == most
                else f"is not at most {most} bytes in hexadecimal digits",
            )
            return bytes(least)
        return value


def faults_of(
    game: AnyGame, play: Play[Any, Any], reading: Reading | None = None, *, resting: bool = False
) -> list[Fault]:
    """Everything that is wrong with a state of the right form, where the facts that were read have it."""
    found = []
    for name, deck in game.decks(play).items():
        for piece, number in deck.surplus().items():
            title, there_are = deck.names(piece).name.lower(), deck.all.count(piece)
            paths = reading.named(deck.names(piece))[-number:] if reading else []
            path = paths[0] if paths else "facts"
            found.append(Fault(path, f"{title} is there {there_are + number} times, and the game has {there_are}"))
        if missing := deck.missing():
            listed = ", ".join(
                f"{deck.names(piece).name.lower()}" + (f" x{number}" if number > 1 else "")
                for piece, number in missing.items()
            )
            found.append(Fault("facts", f"of the {name} deck {missing.total()} are nowhere: {listed}"))
    return found + [Fault(f"facts.{path}".rstrip("."), problem) for path, problem in game.faults(play, resting=resting)]
