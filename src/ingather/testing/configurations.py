"""Configurations by the dice, over the synthetic web: filters of many shapes, all of which load.

Whatever the dice choose, the text is valid: a directive stands where it may, what needs another comes
behind it, what may stand once stands once. Counters of a run (hosts, objects) are left out: their
answers depend on the order of visits.
"""

from random import Random

__all__ = ["filter_conf", "rules_conf"]

_METADATA = (
    'filter-by-prefix src=path deny="/s{n}/"',
    'filter-by-regex src=path deny="*.txt"',
    'filter-by-exact src=type deny="text/plain"',
    'filter-by-prefix src=type allow="text/"',
    "filter-by-max src=depth value={n}",
    "assign-type-by-extension",
    "filterrules-process",
    "clear-source src=depth",
    "assign-source dst=section src=path",
    'generate-by-prefix dst=section src=path match="/s{n}/" value="Section {n}"',
)
_DATA = (
    "assign-source dst=type src=content-type",
    "filterrules-process",
    "filter-by-exact src=type allow=text/html",
    'filter-by-prefix src=content-type deny="text/plain"',
    'filter-by-regex src=description deny="*x{n}*"',
    "clear-source src=type",
    'filter-by-prefix src=section deny="Section {n}"',
    "generate-md5",
)
_ENUMERATE = (
    "enumerate-urls max={n}",
    "enumerate-urls max=1024 type=text/html",
    "enumerate-urls-from-text max=1024 type=text/plain",
)
_GENERATE = (
    "extract-html-meta truncate=255 type=text/html",
    "extract-html-text truncate=300 skip-headings=true type=text/html",
    "extract-html-toc truncate=255 level={n}",
    "extract-full-text truncate=4096 dst=body",
    'extract-source src="depth,section,host->server,md5"',
    "copy-attribute src=description dst=summary truncate={n} clean=true",
    'rename-attribute src="description->abstract"',
    'generate-by-regex dst=classification src=path match="*[1357].html" value=Odd',
    'generate-by-prefix dst=classification src=path match="/s" value=Sectioned',
    "generate-rd-last-modified",
    "generate-rd-expires",
)


def filter_conf(dice: Random) -> str:
    """Return a filter.conf with both default filters."""
    return "\n".join(
        f'<Filter name="{role}-default">\n{_SETUP}{_lines(dice, role)}{_SHUTDOWN}</Filter>'
        for role in ("enumeration", "generation")
    )


def rules_conf(dice: Random, origins: tuple[str, ...]) -> str:
    """Return a filterrules.conf with a site for each of *origins* (``http://host:port``)."""
    kinds = [
        f'<Rule name="R{n}" enable={_flag(dice)} action={dice.choice(("exclude", "exclude", "include"))}>\n{match}\n</Rule>'
        for n, match in enumerate(
            (
                f'Match src=path method=contains value="p{dice.randrange(10)}"',
                'Match src=path method=ends-with value=".html"',
                'Match src=type method=is value="text/plain"',
                f'Match src=url method=regex value=".*[{dice.randrange(10)}].html"',
            )
        )
    ]
    sites = []
    for number, origin in enumerate(origins):
        host, _, port = origin.partition("://")[2].partition(":")
        used = dice.sample(range(len(kinds)), dice.randrange(3))
        use = f'Use rule="{", ".join(f"R{n}" for n in used)}"\n' if used else ""
        sites.append(
            f'<Site name="s{number}" host="{host}" type=server enable=true depth={dice.choice((1, 2, 3, -1))} source=web>\n'
            f'Start url="{origin}/"\nPort allow="{port or 80}"\n{use}</Site>'
        )
    return "\n".join((*kinds, *sites))


_SETUP = (
    "Setup fn=filterrules-setup config=./config/filterrules.conf\n"
    "Setup fn=setup-type-by-extension file=./config/mime.types\n"
)
_SHUTDOWN = "Shutdown fn=filterrules-shutdown\n"


def _lines(dice: Random, role: str) -> str:
    """Return the directives of one filter in an order of their own; the site's rules are never left out."""
    metadata = dice.sample(_METADATA, dice.randrange(4))
    if "filterrules-process" not in metadata:
        metadata.append("filterrules-process")
    data = dice.sample(_DATA, dice.randrange(4))
    if "generate-md5" in data and dice.random() < 0.5:  # noqa: PLR2004 - every other time
        data.append("filter-by-md5")
    last = _ENUMERATE if role == "enumeration" else _GENERATE
    chosen = dice.sample(last, dice.randrange(1, len(last) + 1))
    if role == "enumeration":  # a crawl that gets somewhere says more
        chosen.append("enumerate-urls")
    if role == "generation" and "generate-md5" not in data:
        chosen = [line.replace(",md5", "") for line in chosen]
    phases = (
        ("MetaData", metadata),
        ("Data", data),
        ("Enumerate" if last is _ENUMERATE else "Generate", chosen),
    )
    return "".join(
        f"{phase} enable={_flag(dice)} fn={line.format(n=dice.randrange(1, 7))}\n"
        if line not in {"filterrules-process", "generate-md5"}
        else f"{phase} fn={line}\n"
        for phase, lines in phases
        for line in lines
    )


def _flag(dice: Random) -> str:
    return "true" if dice.random() < 0.8 else "false"  # noqa: PLR2004 - most lines are in force
