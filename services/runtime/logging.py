"""Structured logs: one JSON object a line on stderr, with the ids of the call they belong to."""

import logging
import re
import sys
from collections.abc import Mapping
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from services.runtime.store_url import MASK
from services.runtime.texts import bounded

# Names whose last words mark the value as secret. A ticket's id is all it takes to hold the ticket.
_SECRET = re.compile(
    r"(^|_)(token|secret|state|nonce|seed|password|contribution|pick|order|url|authorization|ticket_id)s?$"
)

_LONGEST_TEXT = 600
"""Of a value, in characters: all that we write ourselves is shorter."""
_LONGEST_TRACEBACK = 16_000


def mask_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Hides the values of fields that are secret by name, at any depth of nested mappings."""
    return {name: _masked(name, value) for name, value in event.items()}


def _masked(name: object, value: object) -> object:
    if isinstance(name, str) and _SECRET.search(name.lower()):
        return MASK
    if isinstance(value, Mapping):
        return {inner: _masked(inner, held) for inner, held in value.items()}
    return value


def bound_texts(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Cuts long texts, at any depth, so that whoever calls cannot fill the log."""
    return {
        name: _cut(value, _LONGEST_TRACEBACK if name == "exception" else _LONGEST_TEXT) for name, value in event.items()
    }


def _cut(value: object, most: int) -> object:
    if isinstance(value, str):
        return bounded(value, most)
    if isinstance(value, Mapping):
        return {name: _cut(held, most) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return [_cut(held, most) for held in value]
    return value


def configure_logging(level: str, service: str) -> None:
    """Sends this process's logs to stderr, those of libraries too.

    Args:
        level: the least level logged: debug, info, warning or error.
        service: the name every line carries.
    """

    def name_service(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event["service"] = service
        return event

    common: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        name_service,
        mask_secrets,
        # Plain tracebacks: those with local variables would carry secrets.
        structlog.processors.format_exc_info,
        bound_texts,
    ]
    render = structlog.processors.JSONRenderer(default=str)
    least = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*common, render],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render],
            foreign_pre_chain=common,
        )
    )
    logging.basicConfig(level=least, handlers=[handler], force=True)


def get_logger(**initial: object) -> Any:
    """A logger whose lines carry these fields and the ids bound to the running call."""
    return structlog.get_logger(**initial)


def bind_call(**ids: str) -> None:
    """Adds ids, such as `game_id`, to every further line of the running call."""
    structlog.contextvars.bind_contextvars(**ids)
