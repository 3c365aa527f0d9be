"""Logging set-up: structlog for events, pretty on a terminal, JSON elsewhere.

Rooms take a logger by :func:`get`; only ``app`` calls :func:`configure`. What
happens once per URL does not come here: it goes to the access log in batches
(a structlog call per URL costs more than the URL's whole keeping). Where nobody called it,
warnings and worse go to standard error.
"""

import logging
import sys
from collections.abc import Callable
from typing import Any, TextIO

import structlog

__all__ = ["configure", "get", "reset"]


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
    _set(
        level,
        structlog.WriteLoggerFactory(out),
        _console() if pretty else structlog.processors.JSONRenderer(),
    )


def _set(level: str, factory: Callable[..., Any], renderer: Callable[[Any, str, Any], Any]) -> None:
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=factory,
        cache_logger_on_first_use=False,
    )


def _console() -> structlog.dev.ConsoleRenderer:
    # Plain tracebacks: the rich ones print local variables, secrets among them.
    return structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)


def _by_terminal(logger: Any, method: str, event: Any) -> Any:
    renderer: Any = _console() if sys.stderr.isatty() else structlog.processors.JSONRenderer()
    return renderer(logger, method, event)


def _standard_error(*_: Any) -> Any:
    return structlog.WriteLogger(sys.stderr)


def reset() -> None:
    """Let warnings and worse go to standard error, whatever that is by then: as where nobody chose."""
    _set("warning", _standard_error, _by_terminal)


# structlog alone would write into the answers that commands give on standard output.
if not structlog.is_configured():
    reset()
