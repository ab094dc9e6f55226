"""What happened at a table, as data, in the form each seat may see."""

from __future__ import annotations

import re
from functools import cache

import msgspec


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every game's events. Fields a viewer may not see are left at their empty default in his form."""

    rule: str = ""
    """Number of the rule that made it happen."""


@cache
def kind_of(event: type[Event]) -> str:
    """The stable name of an event's type, as in `engine_added`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event.__name__).lower()


class Told(msgspec.Struct, frozen=True):
    """An event with its audience: the form for everyone, and fuller forms for the seats that may see more."""

    public: Event
    private: dict[int, Event] | None = None

    def seen_by(self, seat: int | None) -> Event:
        if self.private is None or seat is None:
            return self.public
        return self.private.get(seat, self.public)
