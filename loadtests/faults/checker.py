"""The proof: what clients saw of a game, held against the game's final record. Knows nothing of how either was made."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from loadtests.faults.history import OK, UNKNOWN, Broke, Line, Opened, Seated, Seen, Try

ALREADY_APPLIED = "ALREADY_APPLIED"
DONE = (OK, ALREADY_APPLIED)
DECISION_CLOSED = "DECISION_CLOSED"
CURSOR_UNKNOWN = "CURSOR_UNKNOWN"


class Kind(StrEnum):
    """What can be wrong."""

    LOST = "lost"
    """Something that a client was told is not in the record, or an entry is missing in a feed."""
    DOUBLED = "doubled"
    """A move or an entry of a feed is there twice."""
    LEAKED = "leaked"
    """A client got what another may see."""
    ORDER = "out of order"
    """No order of the moves explains what clients saw."""
    ANSWERS = "answers that differ"
    """A request was answered in two ways."""
    CONTENT = "not as recorded"
    """An answer, an entry or a digest is not that of the record, or the record has a move nobody made."""
    UNFINISHED = "not finished"


@dataclass(frozen=True)
class Finding:
    kind: Kind
    text: str


@dataclass(frozen=True)
class Move:
    seat: int
    decision: str
    picks: tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """A finished game; the move at place `n` made version `n + 1`."""

    game: str
    seats: int
    finished: bool
    moves: Sequence[Move]
    forms: Sequence[Mapping[int, str]]
    """Of each move, the digest of its update in each seat's form."""
    views: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """Digests of views by version and seat, at least of those that clients saw."""
    marks: Sequence[str] = ()
    """Digests of the history at each version, from 0."""
    places: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """Position in the feed and mark of each cursor that clients saw."""

    def move(self, version: int) -> Move | None:
        return self.moves[version - 1] if 0 < version <= len(self.moves) else None


def check(record: Record, histories: Mapping[str, Sequence[Line]]) -> Iterator[Finding]:
    """What is wrong with a game.

    Args:
        histories: of its clients, by their names, in the order in which each learned of things.
    """
    if not record.finished:
        yield Finding(Kind.UNFINISHED, record.game)
    seats: dict[str, int] = {}
    for client, lines in histories.items():
        seated = {(line.game, line.seat) for line in lines if isinstance(line, Seated)}
        if len(seated) == 1 and (alone := seated.pop())[0] == record.game:
            seats[client] = alone[1]
        else:
            yield Finding(Kind.CONTENT, f"{client} was given {len(seated)} seats, or one in another game")
    if sorted(seats.values()) != list(range(record.seats)):
        yield Finding(Kind.CONTENT, f"{record.game}: seats {sorted(seats.values())} were given out")
    yield from _check_record(record, histories, seats)
    for client, seat in seats.items():
        yield from (
            Finding(each.kind, f"{client}: {each.text}") for each in _check_client(record, histories[client], seat)
        )
    yield from _check_order(record, histories, seats)


def _tries(lines: Iterable[Line], call: str) -> list[Try]:
    return [line for line in lines if isinstance(line, Try) and line.call == call]


def _check_record(
    record: Record, histories: Mapping[str, Sequence[Line]], seats: Mapping[str, int]
) -> Iterator[Finding]:
    """Every move was asked for by its seat, no decision is answered twice, and there is one history at each place."""
    asked = {
        Move(seat, each.asked[0], each.asked[1:])
        for client, seat in seats.items()
        for each in _tries(histories[client], "Choose")
    }
    for version, move in enumerate(record.moves, 1):
        if move not in asked:
            yield Finding(Kind.CONTENT, f"version {version} is a move that seat {move.seat} never made")
    for (seat, decision), times in Counter((move.seat, move.decision) for move in record.moves).items():
        if times > 1:
            yield Finding(Kind.DOUBLED, f"seat {seat} answered decision {decision} {times} times")
    for position, times in Counter(position for position, _ in set(record.places.values())).items():
        if times > 1:
            yield Finding(Kind.CONTENT, f"place {position} of the feed was seen in {times} histories")


def _check_client(record: Record, lines: Sequence[Line], seat: int) -> Iterator[Finding]:
    by_request: dict[tuple[str, str], list[Try]] = defaultdict(list)
    for line in lines:
        if isinstance(line, Try) and line.request:
            by_request[line.call, line.request].append(line)
    made: dict[int, str] = {}
    for (call, request), tries in by_request.items():
        yield from _check_answers(request, tries)
        if call == "Choose":
            yield from _check_move(record, request, tries, seat, made)
    for each in _tries(lines, "GetView"):
        if each.answer == OK:
            yield from _same(record.views, each.version, seat, each.digest, "the view")
    yield from _check_feed(record, lines, seat)


def _check_answers(request: str, tries: Sequence[Try]) -> Iterator[Finding]:
    if len({each.asked for each in tries}) > 1:
        yield Finding(Kind.CONTENT, f"request {request} was made with two contents")
    if len({(each.version, each.digest) for each in tries if each.answer == OK}) > 1:
        yield Finding(Kind.ANSWERS, f"request {request} got two answers")
    if len({_version(each) for each in tries if each.answer in DONE}) > 1:
        yield Finding(Kind.ANSWERS, f"request {request} was answered with two versions")
    kinds = {each.answer in DONE for each in tries if each.answer != UNKNOWN}
    if len(kinds) > 1:
        yield Finding(Kind.ANSWERS, f"request {request} was carried out and refused")


def _check_move(
    record: Record, request: str, tries: Sequence[Try], seat: int, made: dict[int, str]
) -> Iterator[Finding]:
    move = Move(seat, tries[0].asked[0], tries[0].asked[1:])
    acknowledged = next((each for each in tries if each.answer in DONE), None)
    if acknowledged is not None:
        version = _version(acknowledged)
        if record.move(version) != move:
            where = "elsewhere" if move in record.moves else "nowhere"
            yield Finding(Kind.LOST, f"request {request} made version {version}, but its move is {where} in the record")
        elif made.setdefault(version, request) != request:
            yield Finding(Kind.DOUBLED, f"requests {made[version]} and {request} both made version {version}")
        for each in tries:
            if each.answer == OK:
                yield from _same_form(record, each.version, seat, each.digest, "the answer")
    for each in tries:
        if each.answer == DECISION_CLOSED and each.told.get("outcome") == "answer":
            stands = record.move(_version(each))
            if stands is None or (stands.seat, stands.decision) != (seat, move.decision):
                yield Finding(Kind.CONTENT, f"request {request} was told of another's answer as its own")


def _version(answered: Try) -> int:
    return answered.version if answered.answer == OK else int(answered.told.get("version", -1))


def _same_form(record: Record, version: int, seat: int, digest: str, what: str) -> Iterator[Finding]:
    move = record.move(version)
    if move is None:
        yield Finding(Kind.LOST, f"{what} of version {version} is of a move that is not in the record")
        return
    forms = record.forms[version - 1]
    if digest != forms[seat]:
        kind = Kind.LEAKED if digest in forms.values() else Kind.CONTENT
        yield Finding(kind, f"{what} of version {version} is not what seat {seat} may see")


def _same(views: Mapping[tuple[int, int], str], version: int, seat: int, digest: str, what: str) -> Iterator[Finding]:
    if views.get((version, seat)) != digest:
        others = {view for (_, other), view in views.items() if other != seat}
        kind = Kind.LEAKED if digest in others else Kind.CONTENT
        yield Finding(kind, f"{what} of version {version} is not that of seat {seat}")


def _check_feed(record: Record, lines: Sequence[Line], seat: int) -> Iterator[Finding]:
    """Over all its streams, a client saw the present and then each entry once and in order, to the end."""
    here: Seen | None = None
    first_of_stream: set[int] = set()
    version, last = -1, False
    for line in lines:
        match line:
            case Opened(after=after):
                if after != (here.cursor if here else None):
                    yield Finding(Kind.LOST, f"the feed was taken up at {after}, not where it was left")
            case Broke(why=why) if why == CURSOR_UNKNOWN:
                yield Finding(Kind.LOST, "the store no longer knew a place in the feed")
            case Seen(kind="heartbeat"):
                if here is None or line.cursor != here.cursor:
                    yield Finding(Kind.CONTENT, "a heartbeat came with another place than the entry before it")
            case Seen():
                if line.stream not in first_of_stream and line.kind == "snapshot" and here is not None:
                    yield Finding(Kind.LOST, f"the feed was not continued after version {version}")
                first_of_stream.add(line.stream)
                yield from _check_entry(record, here, version, line, seat)
                # An entry of another kind leaves the version as it is.
                here, version, last = line, line.version if line.version >= 0 else version, last or line.last
    if not last or version != len(record.moves):
        yield Finding(Kind.LOST, f"the feed ends at version {version} of {len(record.moves)}")


def _check_entry(record: Record, before: Seen | None, version: int, seen: Seen, seat: int) -> Iterator[Finding]:
    """
    Args:
        version: at the entry before.
    """
    position, mark = record.places.get(seen.cursor, (-1, ""))
    if before is not None:
        step = position - record.places.get(before.cursor, (-1, ""))[0]
        if step <= 0:
            yield Finding(Kind.DOUBLED, f"the feed came back to version {seen.version}")
        elif step > 1:
            yield Finding(Kind.LOST, f"{step - 1} entries before version {seen.version} are missing")
    if seen.kind == "snapshot":
        yield from _same(record.views, seen.version, seat, seen.digest, "the snapshot")
    elif seen.kind == "update":
        yield from _same_form(record, seen.version, seat, seen.digest, "the entry")
        if before is not None and seen.version != version + 1:
            kind = Kind.DOUBLED if seen.version <= version else Kind.LOST
            yield Finding(kind, f"version {seen.version} came after {version}")
        if seen.version < len(record.marks) and mark != record.marks[seen.version]:
            yield Finding(Kind.CONTENT, f"the cursor of version {seen.version} is of another history")


def _check_order(
    record: Record, histories: Mapping[str, Sequence[Line]], seats: Mapping[str, int]
) -> Iterator[Finding]:
    """The order of the record is one in which each call took effect between its beginning and its end: what anybody
    knew at some time is not missing in what begins later, and a move that begins later comes after it.

    Feeds may be late and so need not show what is known elsewhere; but what they have shown is known.
    """
    known: list[tuple[float, int]] = []
    claims: list[tuple[float, int, str]] = []
    """When something began, the latest version that may have been known then, and what it was."""
    asked: dict[Move, float] = {}
    for client, lines in histories.items():
        opened: dict[int, float] = {}
        for line in lines:
            match line:
                case Opened():
                    opened[line.stream] = line.at
                case Try(call="Choose"):
                    if client in seats:
                        move = Move(seats[client], line.asked[0], line.asked[1:])
                        asked[move] = min(line.began, asked.get(move, line.began))
                    if line.answer in DONE:
                        known.append((line.ended, _version(line)))
                case Try(call="GetView", answer="OK"):
                    known.append((line.ended, line.version))
                    claims.append((line.began, line.version, f"{client} looked at version {line.version}"))
                case Seen(kind="snapshot" | "update"):
                    known.append((line.at, line.version))
                    if line.kind == "snapshot":
                        began = opened[line.stream]
                        claims.append((began, line.version, f"{client} began to watch at version {line.version}"))
    for version, move in enumerate(record.moves, 1):
        if move in asked:
            claims.append((asked[move], version - 1, f"seat {move.seat} asked for version {version}"))
    known.sort(reverse=True)
    latest = -1
    for began, version, what in sorted(claims):
        while known and known[-1][0] < began:
            latest = max(latest, known.pop()[1])
        if latest > version:
            yield Finding(Kind.ORDER, f"{what} after somebody knew version {latest}")
