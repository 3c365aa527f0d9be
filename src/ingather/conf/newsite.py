"""A new site for filterrules.conf: sensible lines, put before the rules; all else stays as it was."""

from ingather.conf.blocks import parse_blocks
from ingather.conf.report import Report
from ingather.conf.rulesconf import GRAMMAR, parse_rules
from ingather.conf.tree import Block, Document, Remark
from ingather.conf.writer import print_document
from ingather.errors import ConfigurationError, UrlError, UsageError
from ingather.model.url import canonical, split

__all__ = ["with_site"]

_WIDTH = 100


def with_site(  # noqa: PLR0913 - parts of a site
    text: str, where: str, *, file: str, source: str = "web", depth: int | None = None, domain: bool = False
) -> str:
    """Return *text* (a rules file) with a site for *where* in it, comments and order kept.

    The site begins at the root (or at the URL given), allows its own protocol and port beside https, and
    uses every enabled rule that is for new sites.

    Args:
        text: the rules file.
        where: a host, ``host:port`` or a URL.
        file: its name, for messages.
        source: who owns the site's URLs.
        depth: links followed, ``None`` = the robot's default.
        domain: whether subdomains belong to it.

    Raises:
        UsageError: *where* is no host, or a site of this name is there already.
        ConfigurationError: the file has errors; it is not touched.
    """
    report = Report()
    document = parse_blocks(text, file, GRAMMAR, report)
    rules = parse_rules(text, file, report)
    if report.refused:
        raise ConfigurationError(report.sorted())
    try:
        start = canonical(where if "://" in where else f"https://{where}/")
        parts = split(start)
    except UrlError as error:
        raise UsageError(f"{where!r} is not a host", hint="for example: intranet.example") from error
    if parts.scheme not in ("http", "https"):
        raise UsageError(f"{where!r}: only http and https can be gathered")
    known = next((site for site in rules.sites if parts.host in (site.host, site.name)), None)
    if known is not None:
        raise UsageError(f"there is a site for {parts.host} already", hint=f"see {known.where}")
    names = [rule.name for rule in rules.rules if rule.enabled and rule.new_sites]
    made = _site(start, parts.host, parts.port, source=source, depth=depth, domain=domain, rules=names)
    block = parse_blocks(made, file, GRAMMAR, report)
    at = _place(document)
    document.nodes[at:at] = block.nodes
    printed = print_document(document)
    check = Report()
    parse_rules(printed, file, check)
    if check.refused:
        raise ConfigurationError(check.sorted())
    return printed


def _site(  # noqa: PLR0913 - parts of a site
    start: str, host: str, port: int, *, source: str, depth: int | None, domain: bool, rules: list[str]
) -> str:
    kind = "domain" if domain else "server"
    limit = "" if depth is None else f" depth={depth}"
    ports = ",".join(map(str, sorted({80, 443, port})))
    lines = [
        f'<Site name="{host}" host="{host}" type={kind} enable=true{limit} source={source}>',
        f'Start url="{start}"',
        'Protocol allow="http,https"',
        f'Port allow="{ports}"',
        *_uses(rules),
        "</Site>",
        "",
    ]
    return "\n".join(lines) + "\n"


def _uses(names: list[str]) -> list[str]:
    lines: list[list[str]] = []
    for name in names:
        if not lines or len(", ".join([*lines[-1], name])) > _WIDTH - len('Use rule=""'):
            lines.append([])
        lines[-1].append(name)
    return [f'Use rule="{", ".join(line)}"' for line in lines]


def _place(document: Document) -> int:
    """Behind the last site, else before the first rule and the remarks that belong to it, else at the end."""
    blocks = [(place, node) for place, node in enumerate(document.nodes) if isinstance(node, Block)]
    sites = [place for place, node in blocks if node.tag == "Site"]
    if sites:
        return sites[-1] + 1
    if not blocks:
        return len(document.nodes)
    remarks = [node.text if isinstance(node, Remark) else "" for node in document.nodes[: blocks[0][0]]]
    headings = [number for number, text in enumerate(remarks) if text.startswith("# ---")]
    if headings:
        return headings[-1]
    while remarks and remarks[-1]:
        remarks.pop()
    return len(remarks)
