"""Table talk: what a seat may say to everybody. It is no input: it changes nothing and binds nobody."""

from __future__ import annotations

import msgspec


class Declaration(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Something that a seat may say, from a game's closed list. Games add typed fields; none is ever a card."""

    id: str
    """`verb[:argument]...`, distinct within the list; at most 64 characters and without spaces."""
    rule: str
    """Number of the rule that allows it."""
    title: str
    """What is said, in a few words; at most 120 characters."""
