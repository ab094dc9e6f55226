"""A table: one play of a game. It changes only by inputs, and travels as bytes.

A table that stays in a process keeps its running script. A table that travels is saved as its last checkpoint (where no
rule was half-way through) and the inputs since; loading replays those silently and must arrive at the same state and
the same open decisions, else it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from engine.core.chance import CONTRIBUTION_BYTES_MAX, Chance, Seed
from engine.core.decisions import Answers, Ask, Checkpoint, Explanation, Question, Script
from engine.core.errors import Reason, Refusal, RuleFault
from engine.core.events import Told
from engine.core.games import AnyGame, Outcome, Play, Registry

SCHEMA = 1
"""Version of the saved form itself, its first byte."""
MAX_ORDERS = 32
"""Standing orders one seat may have."""

_encode = msgspec.msgpack.encode


class InputKind(IntEnum):
    ANSWER = 1
    DEFAULT = 2
    """The question's default stood because nobody answered."""
    ORDER = 3
    """A standing order of the seat answered."""
    LEAVE = 4
    JOIN = 5
    ORDERS = 6
    """The seat changed its standing orders."""


class Input(msgspec.Struct, frozen=True, array_like=True):
    """What changes a table. `ask` numbers the asks from 1; `picks` are places in the list that was offered."""

    kind: InputKind
    seat: int
    ask: int = 0
    picks: tuple[int, ...] = ()
    orders: tuple[tuple[str, str], ...] = ()


class Step(msgspec.Struct, frozen=True):
    """What an accepted input did: itself and the standing orders it set off, and all that was told."""

    inputs: list[Input]
    told: list[Told]


class TableView(msgspec.Struct, frozen=True):
    """What a seat (None: a spectator) may know of a table."""

    seat: int | None
    version: int
    asked: tuple[int, ...]
    game: Any
    outcome: Outcome | None


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """A table where no rule was half-way through."""

    state: bytes
    """Encoded."""
    used: int
    """Words of chance that were used."""
    asks: int
    """Asks that were made."""
    departures: tuple[int, ...]
    arrivals: tuple[int, ...]


class _Saved(msgspec.Struct, frozen=True, array_like=True):
    game: str
    rules_version: int
    options: bytes
    seed: Seed
    mark: Mark
    since: tuple[Input, ...]
    orders: dict[int, dict[str, str]]
    version: int
    history: bytes
    state_digest: bytes
    asks_digest: bytes


class _Origin(msgspec.Struct, frozen=True, array_like=True):
    """What a table was set up with."""

    game: str
    rules_version: int
    seats: int
    options: bytes
    seed: Seed


_decode_saved = msgspec.msgpack.Decoder(_Saved).decode
_decode_origin = msgspec.msgpack.Decoder(_Origin).decode


@lru_cache(maxsize=1024)
def _history_key(seed: Seed) -> bytes:
    return seed.history_key()


DIGEST_BYTES = 8


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST_BYTES).digest()


class Table:
    """One play of a game. Seats are 0 to `seats - 1`."""

    __slots__ = (
        "_answers",
        "_ask",
        "_asks",
        "_mark",
        "_raw_options",
        "_script",
        "_since",
        "game",
        "history",
        "orders",
        "outcome",
        "play",
        "seed",
        "version",
    )

    def __init__(self, game: AnyGame, seed: Seed, raw_options: bytes) -> None:
        self.game = game
        self.seed = seed
        self.version = 0
        self.history = b"\0" * 16
        """Digest chain over the inputs, keyed with the table's secret: 16 bytes."""
        self.orders: dict[int, dict[str, str]] = {}
        self.outcome: Outcome | None = None
        self.play: Play[Any, Any]
        self._raw_options = raw_options
        self._script: Script
        self._ask: Ask | None = None
        self._answers: Answers = {}
        self._asks = 0
        self._mark: Mark
        self._since: list[Input] = []

    # Beginning

    @classmethod
    def new(cls, game: AnyGame, seats: int, options: Mapping[str, str], seed: Seed) -> tuple[Table, Step]:
        """Sets up a game and runs it to its first question."""
        chosen = game.check(seats, options)
        if seed.contributions and len(seed.contributions) != seats:
            raise Refusal(
                Reason.CONTRIBUTIONS, "contributions are none at all or one for each seat", field="contributions"
            )
        if any(len(each) > CONTRIBUTION_BYTES_MAX for each in seed.contributions):
            raise Refusal(
                Reason.CONTRIBUTIONS,
                f"a contribution has at most {CONTRIBUTION_BYTES_MAX} bytes",
                field="contributions",
            )
        chance = Chance(seed)
        return cls.begin(game, game.deal(seats, chosen, chance), chosen, seed, chance)

    @classmethod
    def begin(
        cls, game: AnyGame, state: msgspec.Struct, options: Any, seed: Seed, chance: Chance | None = None
    ) -> tuple[Table, Step]:
        """Begins from any state in which no rule is half-way through, as a position builder makes them."""
        table = cls(game, seed, _encode(options))
        table.play = game.play(state, options, chance or Chance(seed))
        table._script = game.script(table.play)
        table._set_mark()
        table._advance(None)
        return table, Step([], table._take_told())

    @classmethod
    def resume(cls, game: AnyGame, options: Any, seed: Seed, mark: Mark) -> Table:
        """The table as it was where no rule was half-way through; it tells nothing of what came before."""
        table = cls(game, seed, _encode(options))
        table._mark = mark
        table._restore(())
        return table

    @property
    def mark(self) -> Mark:
        """Where no rule was half-way through for the last time."""
        return self._mark

    def since_mark(self) -> list[tuple[Input, tuple[str, ...]]]:
        """The inputs since then that `resume` needs to arrive here, each with the ids of the options it picked."""
        twin = Table.resume(self.game, self.play.options, self.seed, self._mark)
        named = []
        for given in self._since:
            asked = twin.question(given.seat)
            named.append((given, tuple(asked.options[place].id for place in given.picks) if asked else ()))
            twin._feed(given)
        return named

    # What is open

    @property
    def asked(self) -> tuple[int, ...]:
        """The seats whose answers are awaited."""
        if self._ask is None:
            return ()
        return tuple(seat for seat in self._ask.questions if seat not in self._answers)

    @property
    def decision(self) -> str:
        """Id of the decisions now open; it counts the asks, which are public."""
        return str(self._asks)

    def question(self, seat: int) -> Question[Any] | None:
        """What that seat is asked now, or None."""
        if self._ask is None or seat in self._answers:
            return None
        return self._ask.questions.get(seat)

    def view(self, seat: int | None) -> TableView:
        return TableView(seat, self.version, self.asked, self.game.view(self.play, seat), self.outcome)

    def explain(self, seat: int, candidate: str) -> Explanation:
        """Why a candidate is or is not on offer to that seat now: by the question it is asked, else by the game."""
        self._check_seat(seat)
        asked = self.question(seat)
        if asked is not None and (found := asked.explain(candidate)).known:
            return found
        rule = None if self.outcome else self.game.why_not(self.play, seat, candidate, asked)
        if rule is None and asked is None:
            raise self._not_asked(seat)
        return Explanation(candidate, offered=False, known=rule is not None, rule=rule or "")

    # Inputs

    def answer(self, seat: int, decision: str, picks: Sequence[str]) -> Step:
        """A seat's answer, by the ids of its options; raises `Refusal` and changes nothing if it is not legal."""
        asked = self._open_question(seat, decision)
        places = asked.places(picks, partial(self.explain, seat))
        asked.judge(places)
        return self._apply(Input(InputKind.ANSWER, seat, self._asks, places))

    def answer_places(self, seat: int, places: tuple[int, ...]) -> Step:
        """The same by places in the list on offer."""
        asked = self._open_question(seat, self.decision)
        asked.judge(places)
        return self._apply(Input(InputKind.ANSWER, seat, self._asks, places))

    def answer_default(self, seat: int, decision: str) -> Step:
        """Lets the default of a seat's open decision stand."""
        asked = self._open_question(seat, decision)
        return self._apply(Input(InputKind.DEFAULT, seat, self._asks, asked.default))

    def set_orders(self, seat: int, orders: Mapping[str, str]) -> Step:
        """Replaces a seat's standing orders: question key to option id. They answer at once where they apply."""
        self._check_seat(seat)
        self._check_goes_on()
        if len(orders) > MAX_ORDERS:
            raise Refusal(Reason.TOO_MANY_ORDERS, f"at most {MAX_ORDERS} standing orders are kept", field="orders")
        return self._apply(Input(InputKind.ORDERS, seat, orders=tuple(sorted(orders.items()))))

    def leave(self, seat: int) -> Step:
        """A seat gives up its place; its open answers are withdrawn, and others are asked anew where that can change
        their options."""
        self._check_leaver(seat)
        return self._apply(Input(InputKind.LEAVE, seat))

    def join(self) -> Step:
        """A newcomer takes the seat that the game names."""
        return self._apply(Input(InputKind.JOIN, self._newcomer()))

    def _check_leaver(self, seat: int) -> None:
        self._check_seat(seat)
        self._check_goes_on()
        self.game.may_leave(self.play, seat)

    def _newcomer(self) -> int:
        self._check_goes_on()
        return self.game.may_join(self.play)

    def _check_goes_on(self) -> None:
        if self.outcome is not None:
            raise Refusal(Reason.GAME_OVER, "the game is over")

    def _check_seat(self, seat: int) -> None:
        if seat not in self.game.seats_of(self.play):
            raise Refusal(Reason.SEAT_OUT_OF_RANGE, "no such seat at this table", field="seat")

    def _not_asked(self, seat: int) -> Refusal:
        self._check_seat(seat)
        if self.outcome is not None:
            return Refusal(Reason.GAME_OVER, "the game is over")
        return Refusal(Reason.NOT_ASKED, "nothing is asked of this seat now", field="seat")

    def _open_question(self, seat: int, decision: str) -> Question[Any]:
        if decision != self.decision or self._ask is None:
            self._check_seat(seat)
            number = int(decision) if decision.isascii() and decision.isdigit() and len(decision) < 10 else 0
            if 0 < number <= self._asks and str(number) == decision:
                raise Refusal(Reason.DECISION_CLOSED, "this decision is closed", field="decision")
            self._check_goes_on()
            raise Refusal(Reason.UNKNOWN_DECISION, "no such decision at this table", field="decision")
        if seat in self._answers:
            raise Refusal(Reason.DECISION_CLOSED, "this seat has answered", field="decision")
        asked = self._ask.questions.get(seat)
        if asked is None:
            raise self._not_asked(seat)
        return asked

    def _apply(self, given: Input) -> Step:
        inputs = [given]
        before = (self._mark, tuple(self._since), dict(self.orders), self.version, self.history)
        try:
            self._record(given)
            while (order := self._next_order()) is not None:
                self._record(order)
                inputs.append(order)
        except Exception as fault:
            self._mark, since, self.orders, self.version, self.history = before
            self._restore(since)
            raise RuleFault(f"rule failed on input {self.version + 1} of {self.game.id}") from fault
        return Step(inputs, self._take_told())

    def _record(self, given: Input) -> None:
        self.version += 1
        self.history = blake2b(self.history + _encode(given), digest_size=16, key=_history_key(self.seed)).digest()
        self._feed(given)

    def _feed(self, given: Input) -> None:
        if given.kind == InputKind.ORDERS:
            # Saved as they stand, not replayed: a seat may change them any number of times between two marks.
            self.orders[given.seat] = dict(given.orders)
            return
        self._since.append(given)
        if given.kind <= InputKind.ORDER:
            self._hear(given)
        elif given.kind == InputKind.LEAVE:
            self.orders.pop(given.seat, None)
            self._depart(given.seat)
        else:
            self.play.arrivals.append(given.seat)

    def _hear(self, given: Input) -> None:
        asking = self._ask
        assert asking is not None
        options = asking.questions[given.seat].options
        picked = tuple([options[place] for place in given.picks])
        self._answers[given.seat] = picked
        if asking.heard is not None:
            asking.heard(given.seat, picked)
        self._close_if_settled(asking)

    def _depart(self, seat: int) -> None:
        try:
            self.game.depart(self.play, seat)
        except Exception as raised:
            self._ask, self._answers = None, {}
            self._advance(raised)
        else:
            self._withdraw(seat)

    def _withdraw(self, seat: int) -> None:
        """Takes a seat's question back, and asks the others anew where their options are not fixed."""
        asking = self._ask
        assert asking is not None
        asking.questions.pop(seat, None)
        self._answers.pop(seat, None)
        changed = False
        for other, asked in list(asking.questions.items()):
            again = asked if other in self._answers else asked.again()
            if again is None:
                del asking.questions[other]
            else:
                asking.questions[other] = again
            changed = changed or again is not asked
        self._close_if_settled(asking)
        if changed and self._ask is asking:
            # Answers to what was asked before are told apart. The number is public: it must not depend on whether
            # the options, which are not, came out the same.
            self._asks += 1

    def _close_if_settled(self, asking: Ask) -> None:
        if len(self._answers) == len(asking.questions) or (
            asking.settled is not None and asking.settled(self._answers)
        ):
            self._ask = None
            answers, self._answers = self._answers, {}
            self._advance(answers)

    def _next_order(self) -> Input | None:
        """The first open question that a standing order answers."""
        if not self.orders or self._ask is None:
            return None
        for seat in self.asked:
            orders = self.orders.get(seat)
            if orders is None:
                continue
            asked = self._ask.questions[seat]
            wanted = orders.get(asked.key)
            if wanted is None or asked.least > 1:
                continue
            place = next((place for place, option in enumerate(asked.options) if option.id == wanted), None)
            if place is not None:
                return Input(InputKind.ORDER, seat, self._asks, (place,))
        return None

    # Running the script

    def _advance(self, given: Answers | Exception | None) -> None:
        """Runs the script to its next question or its end; it is given answers, or an exception to raise."""
        send = self._script.send
        try:
            said = self._script.throw(given) if isinstance(given, Exception) else send(given)
            while isinstance(said, Checkpoint):
                self._set_mark()
                said = send(None)
        except StopIteration as end:
            self.outcome = end.value
            self._set_mark()
            return
        self._ask = said
        self._asks += 1

    def _set_mark(self) -> None:
        play = self.play
        self._mark = Mark(
            _encode(play.state), play.chance.used, self._asks, tuple(play.departures), tuple(play.arrivals)
        )
        self._since.clear()

    def _take_told(self) -> list[Told]:
        told, self.play.told = self.play.told, []
        return told

    def _restore(self, since: Sequence[Input]) -> None:
        """Rebuilds the running table from its mark and the inputs since, in silence."""
        mark = self._mark
        state = self.game.decode_state(mark.state)
        options = self.game.decode_options(self._raw_options)
        self.play = self.game.play(state, options, Chance(self.seed, mark.used))
        self.play.departures = list(mark.departures)
        self.play.arrivals = list(mark.arrivals)
        self._script = self.game.script(self.play)
        self._ask, self._answers, self._asks, self.outcome = None, {}, mark.asks, None
        self._since = []
        self._advance(None)
        for given in since:
            self._feed(given)
        self._take_told()

    # Travelling

    def _state_digest(self) -> bytes:
        return _digest(_encode(self.play.state))

    def _asks_digest(self) -> bytes:
        if self._ask is None:
            return _digest(repr(self.outcome).encode())
        parts = []
        for seat, asked in self._ask.questions.items():
            parts.append(f"{seat} {asked.key} {asked.least} {asked.most} {asked.ordered} {asked.default}")
            parts += [option.id for option in asked.options]
        parts.append(repr(self.asked))
        return _digest("\n".join(parts).encode())

    def save(self) -> bytes:
        """The table as opaque bytes, closed by their digest. They hold secrets and never leave the services."""
        return _closed(
            _Saved(
                self.game.id,
                self.game.rules_version,
                self._raw_options,
                self.seed,
                self._mark,
                tuple(self._since),
                self.orders,
                self.version,
                self.history,
                self._state_digest(),
                self._asks_digest(),
            )
        )

    @classmethod
    def load(cls, games: Registry, data: bytes) -> Table:
        """Rebuilds a saved table; raises `Refusal` for bytes that are damaged or were made under other rules."""
        saved = _opened(data, _decode_saved, "state")
        game = _same_rules(games, saved, "state")
        table = cls(game, saved.seed, saved.options)
        table.version, table.history, table.orders, table._mark = (
            saved.version,
            saved.history,
            saved.orders,
            saved.mark,
        )
        try:
            table._restore(saved.since)
        except Exception as fault:
            raise Refusal(Reason.RULES_VERSION, "the saved table cannot be continued", field="state") from fault
        if (table._state_digest(), table._asks_digest()) != (saved.state_digest, saved.asks_digest):
            raise Refusal(
                Reason.RULES_VERSION,
                "the saved table continues otherwise under the rules here",
                field="state",
            )
        return table

    # Playing again

    def origin(self, seats: int) -> bytes:
        """What `new` set the table up with, as opaque bytes closed by their digest. With the inputs since they are the
        table; they hold its secret and never leave the services."""
        return _closed(_Origin(self.game.id, self.game.rules_version, seats, self._raw_options, self.seed))

    @classmethod
    def replay(cls, games: Registry, origin: bytes, inputs: Iterable[Input]) -> Replayed:
        """Plays a game again from its origin and all its inputs, each judged as when it was made. Raises `Refusal`:
        STATE_GARBLED or RULES_VERSION for the origin, LOG_BROKEN for inputs that this game cannot have had."""
        set_up = _opened(origin, _decode_origin, "origin")
        game = _same_rules(games, set_up, "origin")
        options, chance = game.decode_options(set_up.options), Chance(set_up.seed)
        table, _ = cls.begin(game, game.deal(set_up.seats, options, chance), options, set_up.seed, chance)
        digests = []
        for given in inputs:
            table.play_again(given)
            digests.append(table.history)
        if (order := table._next_order()) is not None:
            raise _broken(table.version + 1, f"a standing order of seat {order.seat} is missing at the end")
        return Replayed(table, set_up.seats, msgspec.to_builtins(options, str_keys=True), digests)

    def play_again(self, given: Input) -> None:
        """As `take`, where standing orders answer as they did. Raises `Refusal`: LOG_BROKEN."""
        order = self._next_order()
        if (order is not None or given.kind is InputKind.ORDER) and given != order:
            raise _broken(self.version + 1, "it is not what the standing orders give")
        self.take(given)

    def take(self, given: Input) -> None:
        """Gives the table an input of its past, judged as when it was made, and tells nothing.

        Raises:
            Refusal: LOG_BROKEN, caused by why the input is not taken; the table is of no use any more.
        """
        version = self.version + 1
        try:
            if given.kind is InputKind.ORDERS:
                self._check_seat(given.seat)
            elif given.kind is InputKind.LEAVE:
                self._check_leaver(given.seat)
            elif given.kind is InputKind.JOIN:
                if self._newcomer() != given.seat:
                    raise _broken(version, "another seat would have joined")
            else:
                self._open_question(given.seat, str(given.ask)).judge(given.picks)
            self._record(given)
        except Exception as fault:
            raise _broken(version, "the rules do not take it") from fault
        self._take_told()


def _broken(version: int, why: str) -> Refusal:
    return Refusal(Reason.LOG_BROKEN, f"input {version}: {why}", field="inputs", about={"version": str(version)})


class Replayed(NamedTuple):
    """A game that was played again."""

    table: Table
    seats: int
    """How many it was dealt for."""
    options: dict[str, Any]
    digests: list[bytes]
    """The history's digest after each input: 16 bytes each."""


class _UnderRules(Protocol):
    @property
    def game(self) -> str: ...
    @property
    def rules_version(self) -> int: ...


Kept = TypeVar("Kept")


def _closed(kept: msgspec.Struct) -> bytes:
    content = bytes((SCHEMA,)) + _encode(kept)
    return content + _digest(content)


def _opened(data: bytes, decode: Callable[[bytes], Kept], field: str) -> Kept:
    """Reads bytes that are closed by their digest."""
    garbled = Refusal(Reason.STATE_GARBLED, "these bytes are not what a table was saved as", field=field)
    content, digest = data[:-DIGEST_BYTES], data[-DIGEST_BYTES:]
    if _digest(content) != digest:
        raise garbled
    if content[:1] != bytes((SCHEMA,)):
        raise Refusal(Reason.RULES_VERSION, "the table was saved in another form", field=field)
    try:
        return decode(content[1:])
    except (msgspec.DecodeError, ValueError) as fault:
        raise garbled from fault


def _same_rules(games: Registry, saved: _UnderRules, field: str) -> AnyGame:
    """The game of a saved table, which can be continued only under the rules that made it."""
    try:
        game = games.get(saved.game)
    except Refusal as fault:
        raise Refusal(Reason.RULES_VERSION, "the table's game is not played here", field=field) from fault
    if saved.rules_version != game.rules_version:
        raise Refusal(
            Reason.RULES_VERSION,
            "the table was saved under another version of the rules",
            field=field,
            about={"saved": str(saved.rules_version), "here": str(game.rules_version)},
        )
    return game
