"""Logging set-up: structlog for events, pretty on a terminal, JSON elsewhere.

Rooms take a logger by :func:`get`; only ``app`` calls :func:`configure`. What
happens once per URL does not come here: it goes to the access log in batches
(a structlog call per URL costs more than the URL's whole keeping).
"""

import logging
import sys
from typing import Any, TextIO

import structlog

__all__ = ["configure", "get"]


def get(room: str) -> Any:
    """Return the event logger of *room*; bind what stays the same with ``.bind()``."""
    return structlog.get_logger(room=room)


def configure(*, level: str = "info", stream: TextIO | None = None, pretty: bool | None = None) -> None:
    """Choose where and how events are written, for this process.

    Args:
        level: least severe level that is written.
        stream: default standard error.
        pretty: colours and columns; default: whether *stream* is a terminal.
    """
    out = stream or sys.stderr
    if pretty is None:
        pretty = out.isatty()
    # Plain tracebacks: the rich ones print local variables, secrets among them.
    console = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    renderer: Any = console if pretty else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
