"""One URL judged for people who ask why, through the same bound functions as a crawl, with each step written down."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from ingather.filters.evaluation import Convert, Evaluation
from ingather.filters.trace import Decision, TraceStep
from ingather.model.candidate import Candidate
from ingather.model.description import Attributes
from ingather.model.page import Link, Page
from ingather.model.resource import Response
from ingather.plugins import installed_page_reader

if TYPE_CHECKING:
    from ingather.filters.engine import Engine

__all__ = ["PageReader", "decide"]

PageReader = Callable[[Response], Page]
Converter = Callable[[Convert, Response], Page]
Summarizer = Callable[[str, Response], Mapping[str, tuple[str, ...]]]


def decide(  # noqa: PLR0913 - everything that a crawl would have at hand
    engine: "Engine",
    candidate: Candidate,
    response: Response | None = None,
    *,
    trace: bool = True,
    read_page: PageReader | None = None,
    convert: Converter | None = None,
    summarize: Summarizer | None = None,
    ip: str | Callable[[], str | None] | None = None,
    now_s: float | None = None,
) -> Decision:
    """Judge a URL, with its response if there is one, and tell each step.

    Nothing is counted or stored. Steps after a denial do not run, as in a crawl.

    Args:
        engine: both filters, compiled; bound as its method ``decide``.
        candidate: the URL with its circumstances.
        response: what the host sent; ``None`` = only what is known before the fetch.
        trace: write down the steps.
        read_page: makes the page of the response; default: the installed reader
            (``ingather.plugins.readers``), without one sources that need a page are undefined.
        convert: makes the page of a document; raises ``ExtractError`` or ``IsolationError``.
        summarize: makes the attributes of a program's output; without it none are made.
        ip: address of the host, or how to find it.
        now_s: wall time; without it no attributes are made.
    """
    ev = engine.evaluation(candidate, ip=ip)
    steps: list[TraceStep] = []
    engine.rehearse(ev, steps if trace else None)
    passed = engine.metadata(ev)
    flags: list[str] = []
    links: Iterable[Link] = ()
    attributes: Attributes = {}
    if response is not None and passed:
        engine.respond(ev, response, _reader(engine, response, read_page))
        while isinstance(wanted := engine.data(ev), Convert):
            _convert(ev, wanted, response, convert, flags)
        links = engine.enumerate(ev)
        if now_s is not None and summarize is not None and ev.generation.allowed:
            engine.summarized(ev, {name: summarize(name, response) for name in engine.programs})
        if now_s is not None:
            attributes = engine.generate(ev, now_s=now_s, ip=response.address)
    return Decision(
        ev.url,
        ev.enumeration,
        ev.generation,
        ev.site.name if ev.site is not None else "",
        ev.source,
        tuple(steps),
        tuple(links),
        ev.over_max,
        attributes,
        tuple(flags),
    )


def _reader(engine: "Engine", response: Response, read_page: PageReader | None) -> Callable[[], Page] | None:
    if read_page is not None:
        return lambda: read_page(response)
    installed = installed_page_reader()
    if installed is None:
        return None
    stated = response.header("content-type") or None
    return lambda: installed(
        response.body, url=response.url, content_type=stated, headers=response.headers, agent=engine.agent
    )


def _convert(
    ev: Evaluation, wanted: Convert, response: Response, convert: Converter | None, flags: list[str]
) -> None:
    if convert is None:
        ev.conversion_failed("no converter")
        flags.append("conversion-skipped")
        return
    try:
        ev.converted(convert(wanted, response))
    except Exception as error:  # noqa: BLE001 - a converter may fail in any way; that is a remark on the document
        reason = str(getattr(error, "reason", "") or type(error).__name__)
        ev.conversion_failed(reason)
        flags.append(f"conversion-failed:{reason}")
