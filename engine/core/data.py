"""Figures and rules kept in TOML files of a package. A fault is refused with its file and its place."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from importlib import resources
from typing import TypeVar

import msgspec

T = TypeVar("T")

_SYNTAX_PLACE = re.compile(r" \(at (.+)\)$")
_FIELD_PLACE = re.compile(r" - at `\$\.?(.*)`$")


class DataError(ValueError):
    """A fault in a data file. `place` is a line, the path of a field, or empty for the file as a whole."""

    def __init__(self, file: str, place: str, problem: str) -> None:
        super().__init__(file, place, problem)
        self.file = file
        self.place = place
        self.problem = problem

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.place, self.problem) if part)


def load_toml(package: str, name: str, shape: type[T]) -> T:
    """Read `name`, a path below `package`, strictly as `shape`. Raises DataError."""
    return parse_toml(*_read(package, name), shape)


def _read(package: str, name: str) -> tuple[str, str]:
    file = f"{package.replace('.', '/')}/{name}"
    try:
        return resources.files(package).joinpath(name).read_text("utf-8"), file
    except (OSError, UnicodeDecodeError) as fault:
        raise DataError(file, "", f"cannot be read: {fault}") from fault


def parse_toml(text: str, file: str, shape: type[T]) -> T:
    """Read `text` strictly as `shape`; `file` names it in a DataError."""
    try:
        return msgspec.convert(tomllib.loads(text), shape)
    except tomllib.TOMLDecodeError as fault:
        raise _placed(file, str(fault), _SYNTAX_PLACE) from fault
    except msgspec.ValidationError as fault:
        raise _placed(file, str(fault), _FIELD_PLACE) from fault


def _placed(file: str, message: str, pattern: re.Pattern[str]) -> DataError:
    found = pattern.search(message)
    return DataError(file, found[1], message[: found.start()]) if found else DataError(file, "", message)


def index(items: Iterable[T], key: Callable[[T], str], file: str, place: str) -> dict[str, T]:
    """The items by key, in their order; a key that stands twice is a DataError."""
    found: dict[str, T] = {}
    for item in items:
        if key(item) in found:
            raise DataError(file, place, f"{key(item)} is listed twice")
        found[key(item)] = item
    return found


def faults_in(error: BaseException) -> list[DataError]:
    """The faults that an error tells of, if it is one of data files: one, or a group of them."""
    if isinstance(error, DataError):
        return [error]
    if isinstance(error, ExceptionGroup) and all(isinstance(each, DataError) for each in error.exceptions):
        return [each for each in error.exceptions if isinstance(each, DataError)]
    return []


def refuse(file: str, faults: Iterable[tuple[str, str]]) -> None:
    """Raise the faults of a file, each a place and a problem, as one group of DataErrors, if any."""
    errors = [DataError(file, place, problem) for place, problem in faults]
    if errors:
        raise ExceptionGroup("\n".join(str(error) for error in errors), errors)


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of a game's list of numbered rules."""

    number: str
    title: str
    page: str
    """Page of the rulebook; empty where no page says it."""
    informative: str = ""
    """Why no test can show the rule; empty for a rule that needs a test."""


class _RuleFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rules: tuple[Rule, ...]


def load_rules(package: str, name: str) -> dict[str, Rule]:
    """The numbered rules in the order of their file. Raises DataError, for a repeated number too."""
    return parse_rules(*_read(package, name))


def parse_rules(text: str, file: str) -> dict[str, Rule]:
    return index(parse_toml(text, file, _RuleFile).rules, lambda rule: rule.number, file, "rules")
