"""Looks for secrets where they must not be."""

from __future__ import annotations

import re
from base64 import b64encode, urlsafe_b64encode
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

_PREFIX = 12
"""Characters by which a secret is looked up; each is longer."""
_WORD = re.compile(rb"[A-Za-z0-9+/_-]{%d,}" % _PREFIX)


def spellings(secret: bytes) -> set[bytes]:
    """A secret as it is, in hexadecimal, in base 64, and as Python shows it."""
    encoded = {encode(secret).rstrip(b"=") for encode in (b64encode, urlsafe_b64encode)}
    return {secret, secret.hex().encode(), secret.hex().upper().encode(), repr(secret)[2:-1].encode(), *encoded}


def find_leaks(secrets: Iterable[bytes], files: Iterable[Path]) -> Iterator[str]:
    """Tells where secrets are written, but not the secrets.

    Args:
        secrets: of at least 12 bytes each.
    """
    by_prefix: dict[bytes, set[bytes]] = defaultdict(set)
    raw = set()
    for spelling in (spelling for secret in secrets for spelling in spellings(secret)):
        if _WORD.fullmatch(spelling):
            by_prefix[spelling[:_PREFIX]].add(spelling)
        else:
            raw.add(spelling)
    for path in files:
        content = path.read_bytes()
        places = {content.find(secret) for secret in raw} - {-1}
        for word in _WORD.finditer(content):
            for place in range(word.start(), word.end() - _PREFIX + 1):
                spelt = by_prefix.get(content[place : place + _PREFIX], ())
                places.update(place for spelling in spelt if content.startswith(spelling, place))
        if places:
            line = content.count(b"\n", 0, min(places)) + 1
            yield f"{path}: secrets at {len(places)} places, the first in line {line}"
