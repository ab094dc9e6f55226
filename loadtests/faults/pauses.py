"""How long clients waited, and for which kind of fault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from loadtests.faults.history import OK, Line, Seen, Try
from loadtests.faults.injection import Injected

Pause = tuple[float, float]
"""Its beginning and its end."""

PAUSE_SECONDS = 5.0
"""What a client waits at most while processes die and answers get lost."""
FAILOVER_PAUSE_SECONDS = 15.0
"""The same where a primary of a cluster is in trouble, as its replica has to take over."""

_OTHER = "no fault"
_FAILOVER = "primary"
"""Begins the kinds of fault in which another node has to take over."""


def pauses(histories: Mapping[str, Sequence[Line]]) -> Iterator[Pause]:
    """Of one game: from the first attempt at each call to its answer, and from when anybody knew a version to when each
    feed had it."""
    known: dict[int, float] = {}
    for lines in histories.values():
        for line in lines:
            if isinstance(line, Try) and line.version >= 0:
                known[line.version] = min(line.ended, known.get(line.version, line.ended))
            elif isinstance(line, Seen) and line.kind == "update":
                known[line.version] = min(line.at, known.get(line.version, line.at))
    for lines in histories.values():
        began: dict[str, float] = {}
        for line in lines:
            if isinstance(line, Try) and line.request:
                began[line.request] = min(line.began, began.get(line.request, line.began))
        answered: set[str] = set()
        for line in lines:
            if isinstance(line, Try) and line.request and line.answer == OK and line.request not in answered:
                answered.add(line.request)
                yield began[line.request], line.ended
            elif isinstance(line, Seen) and line.kind == "update":
                yield known[line.version], line.at


def longest_by_kind(found: Iterable[Pause], faults: Sequence[Injected]) -> dict[str, float]:
    """The longest pause of each kind of fault, in seconds.

    A pause counts for the fault that it overlaps longest; for that of a primary, if there is one: while a node takes
    over, whatever else happens, its games stand still.
    """
    longest: dict[str, float] = {}
    for began, ended in found:
        kind, most = _OTHER, (False, 0.0)
        for fault in faults:
            overlap = min(ended, fault.ended) - max(began, fault.began)
            weight = (fault.kind.startswith(_FAILOVER), overlap)
            if overlap > 0 and weight > most:
                kind, most = fault.kind, weight
        longest[kind] = max(longest.get(kind, 0.0), ended - began)
    return longest


def limit(phase: str, kind: str) -> float:
    """How long clients may wait at most for this kind of fault, in seconds."""
    return FAILOVER_PAUSE_SECONDS if phase == "cluster" and kind.startswith(_FAILOVER) else PAUSE_SECONDS


def too_long(phase: str, longest: Mapping[str, float]) -> Iterator[str]:
    """A line for each kind of fault for which clients waited longer than they may."""
    for kind, seconds in sorted(longest.items()):
        if seconds > limit(phase, kind):
            yield f"{phase}: {kind}: a pause of {seconds:.2f} s; at most {limit(phase, kind):.0f} s are allowed"
