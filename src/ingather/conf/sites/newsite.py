"""A new site for filterrules.conf: sensible lines, put before the rules; all else stays as it was."""

from dataclasses import dataclass

from ingather.conf.report import Report
from ingather.conf.sites.rules import SITE_PROTOCOLS, Rules
from ingather.conf.sites.rulesconf import GRAMMAR, parse_rules
from ingather.conf.sites.siteconf import FILES
from ingather.conf.text.blocks import parse_blocks
from ingather.conf.text.textedit import FileEdit, in_quotes, written
from ingather.conf.text.tree import Block, Document, Remark
from ingather.errors import ConfigurationError, UrlError, UsageError
from ingather.model.url import canonical
from ingather.model.urlparts import Parts, split

__all__ = ["NewSite", "canonical_start", "use_lists", "with_site"]

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class NewSite:
    """What is asked for; empty and ``None`` = what is usual.

    Attributes:
        where: a host, ``host:port`` or a URL; with a URL the site begins there.
        name: else the host.
        starts: where it begins beside; *no_start*: nowhere else.
        rules: names of rules in order; ``None`` = every enabled rule that is for new sites.
    """

    where: str
    name: str = ""
    domain: bool = False
    depth: int | None = None
    source: str = "web"
    database: str = ""
    delay: str = ""
    connections: int | None = None
    credentials: str = ""
    starts: tuple[str, ...] = ()
    no_start: bool = False
    protocols: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    rules: tuple[str, ...] | None = None


def with_site(body: bytes, new: NewSite, *, file: str) -> bytes:
    """Return *body* (a rules file) with a site for *new* in it; every other byte stays.

    The site begins at the root (or at the URL given), allows its own protocol and port beside the usual ones, and
    uses every enabled rule that is for new sites.

    Raises:
        UsageError: *where* is no host, or a site of this name or host is there already.
        ConfigurationError: the file has errors; it is not touched.
    """
    edit, report = FileEdit(file, body), Report()
    document = parse_blocks(edit.text, file, GRAMMAR, Report())
    rules = parse_rules(edit.text, file, report)
    if report.refused:
        raise ConfigurationError(report.sorted(), bodies={file: body})
    start, parts = _where(new.where)
    name = new.name.strip() or parts.host or "files"
    _refuse_known(rules, new, name, parts.host)
    lines = _lines(new, name, start, parts, rules)
    line = _place(document, edit)
    if line > 1 and not edit.blank(line - 1):
        lines = ["", *lines] if edit.blank(line) or line > edit.lines else lines
    elif line <= edit.lines:
        lines = [*lines, ""]
    edit.insert(line, lines)
    made = edit.done()
    check = Report()
    parse_rules(FileEdit(file, made).text, file, check)
    if check.refused:
        wrong = next(d for d in check.sorted() if d.is_error)
        raise UsageError(wrong.text, hint=wrong.hint)
    return made


def use_lists(names: tuple[str, ...]) -> list[str]:
    """Return the values of ``Use`` lines for rules in this order; a name with a comma has a line of its own."""
    lines: list[list[str]] = []
    for name in names:
        alone = "," in name or (lines and "," in lines[-1][0])
        if not lines or alone or len(", ".join([*lines[-1], name])) > _WIDTH - len('Use rule=""'):
            lines.append([])
        lines[-1].append(name)
    return [", ".join(line) for line in lines]


def _where(where: str) -> tuple[str, Parts]:
    if "@" in where.partition("://")[2 if "://" in where else 0].partition("/")[0]:
        raise UsageError(
            "a site has no user names", hint="credentials=NAME names a [credential.NAME] of ingather.toml"
        )
    try:
        start = canonical(where if "://" in where else f"https://{where}/")
        parts = split(start)
    except UrlError as error:
        raise UsageError(f"{where!r} is not a host", hint="for example: intranet.example") from error
    if "*" in parts.host:
        raise UsageError(
            f"{where!r} is not a host: a site has no patterns",
            hint="for a host and its subdomains give its name and --domain",
        )
    if parts.scheme not in SITE_PROTOCOLS:
        raise UsageError(f"{where!r}: only {', '.join(SITE_PROTOCOLS)} can be gathered")
    return start, parts


def _refuse_known(rules: Rules, new: NewSite, name: str, host: str) -> None:
    for site in rules.sites:
        if (site.host, site.domain) == (host, new.domain):
            raise UsageError(f"there is a site for {host or FILES} already", hint=f"see {site.where}")
        if site.name == name:
            raise UsageError(f"there is a site {name!r} already", hint=f"give another name; see {site.where}")


def _lines(new: NewSite, name: str, start: str, parts: Parts, rules: Rules) -> list[str]:
    stated = {
        "depth": "" if new.depth is None else str(new.depth),
        "source": new.source,
        "database": new.database,
        "delay": new.delay,
        "connections": "" if new.connections is None else str(new.connections),
        "credentials": new.credentials,
    }
    head = f"<Site name={in_quotes(name)} host={in_quotes(parts.host or FILES)} type={'domain' if new.domain else 'server'} enable=true"
    head += "".join(f" {key}={written(value)}" for key, value in stated.items() if value)
    starts = [canonical_start(url) for url in new.starts]
    if "://" in new.where or not (new.starts or new.no_start):
        starts.insert(0, start)
    web = parts.scheme in ("http", "https")
    protocols = new.protocols or (("http", "https") if web else (parts.scheme,))
    ports = new.ports or tuple(sorted({80, 443, parts.port} if web else {parts.port} - {0}))
    names = new.rules
    if names is None:
        names = tuple(rule.name for rule in rules.rules if rule.enabled and rule.new_sites)
    return [
        f"{head}>",
        *(f"Start url={in_quotes(url)}" for url in dict.fromkeys(starts)),
        f"Protocol allow={in_quotes(','.join(protocols))}",
        *([f"Port allow={in_quotes(','.join(map(str, ports)))}"] if ports else []),
        *(f"Use rule={in_quotes(line)}" for line in use_lists(names)),
        "</Site>",
    ]


def canonical_start(url: str) -> str:
    """Return a starting point as it is written.

    Raises:
        UsageError: it is no URL that can be gathered.
    """
    try:
        return canonical(url)
    except UrlError as error:
        raise UsageError(f"{url!r} is not an absolute URL that can be gathered") from error


def _place(document: Document, edit: FileEdit) -> int:
    """Return the line: behind the last site, else before the first rule and its remarks, else at the end."""
    blocks = [node for node in document.nodes if isinstance(node, Block)]
    sites = [node for node in blocks if node.tag == "Site" and node.end is not None]
    if sites:
        end = sites[-1].end
        return end.line + 1 if end is not None else edit.lines + 1
    if not blocks:
        return edit.lines + 1
    before = document.nodes[: document.nodes.index(blocks[0])]
    remarks = [node for node in before if isinstance(node, Remark)]
    headings = [node for node in remarks if node.text.startswith("# ---")]
    if headings:
        return headings[-1].place.line
    line = blocks[0].place.line
    while remarks and remarks[-1].text.strip() and remarks[-1].place.line == line - 1:
        line = remarks.pop().place.line
    return line
