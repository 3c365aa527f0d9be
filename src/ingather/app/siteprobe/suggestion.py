"""A ``<Site>`` for filterrules.conf, made of what was seen; it parses."""

import shlex
from collections.abc import Iterable, Sequence

from ingather.conf.report import Report
from ingather.conf.sites.rulesconf import parse_rules
from ingather.model.urlparts import split

__all__ = ["adding", "suggest", "understood"]


def suggest(  # noqa: PLR0913 - the facts of a site
    start: str,
    *,
    ports: Iterable[int],
    schemes: Iterable[str],
    source: str = "web",
    domain: bool = False,
    remarks: Sequence[str] = (),
) -> str:
    """Return the text of a site that begins at canonical *start*.

    Args:
        start: where the site begins.
        ports: that answered; that of *start* is there in any case.
        schemes: that answered; likewise.
        source: who owns its URLs.
        domain: whether subdomains belong to it.
        remarks: lines of comment before it.
    """
    parts = split(start)
    allowed = ",".join(sorted({*schemes, parts.scheme}))
    numbers = ",".join(map(str, sorted({*ports, parts.port})))
    lines = [
        *(f"# {_plain(remark)}" for remark in remarks),
        f'<Site name="{parts.host}" host="{parts.host}" type={"domain" if domain else "server"} enable=true source={source}>',
        f'Start url="{start}"',
        f'Protocol allow="{allowed}"',
        f'Port allow="{numbers}"',
        "</Site>",
    ]
    return "\n".join(lines) + "\n"


def _plain(remark: str) -> str:
    """Return what a comment of one line may hold: no line of robots.txt can become one of the site's."""
    return " ".join("".join(c if c.isprintable() else " " for c in remark).split()).rstrip("\\")


def adding(
    start: str, *, ports: Iterable[int], schemes: Iterable[str], source: str = "web", domain: bool = False
) -> str:
    """Return the command that writes the site that :func:`suggest` shows."""
    parts = split(start)
    words = ["ingather", "site", "add", parts.host, "--source", source, "--start", start]
    words += ["--protocol", ",".join(sorted({*schemes, parts.scheme}))]
    words += ["--port", ",".join(map(str, sorted({*ports, parts.port}))), *(("--domain",) if domain else ())]
    return shlex.join(words)


def understood(text: str) -> str:
    """Return why *text* is no rules file, ``""`` if it is one."""
    report = Report()
    parse_rules(text, "suggestion", report)
    return "; ".join(str(item) for item in report.sorted()) if report.refused else ""
