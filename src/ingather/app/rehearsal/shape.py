"""What two configurations have in common: enough of it, and a body need not be read to know what comes of it."""

from typing import Any

from ingather.conf import Filter, Loaded, MimeMap, Rules
from ingather.model.page import Page
from ingather.model.phase import Phase

__all__ = ["UnreadPage", "judging", "shaping"]

_DENYING = frozenset(
    {
        "filter-by-exact", "filter-by-max", "filter-by-md5", "filter-by-prefix", "filter-by-regex", "filterrules-process",
        "filterrules-setup", "filterrules-shutdown",
    }
)  # fmt: skip
"""Functions that say yes or no and leave sources and attributes as they are."""

_JUDGED = frozenset({"filter.conf", "filterrules.conf", "rd-schema.conf"})
"""Files that a description is not made from by their bytes: those judged line by line, and the schema, which
acts on imports, edits and the index."""
_LISTS = frozenset({"follow.txt", "donotfollow.txt", "policy-acl.txt"})
_EMPTY = Page()


class UnreadPage:
    """Stands for a page that nobody has read: its media type is known, and that nothing forbade a description.

    ``needed`` says whether anything else was asked for; then the page must be read after all.
    """

    __slots__ = ("media_type", "needed", "robots")

    def __init__(self, media_type: str) -> None:
        self.media_type = media_type
        self.robots: frozenset[str] = frozenset()
        self.needed = False

    def __getattr__(self, name: str) -> Any:
        """Note that the page itself is wanted."""
        self.needed = True
        return getattr(_EMPTY, name)


def shaping(loaded: Loaded) -> object:
    """Return what makes descriptions: two configurations with equal answers describe what both let pass alike."""
    chosen = loaded.generation
    if chosen is None:
        return None
    phases = (Phase.SETUP, Phase.METADATA, Phase.DATA, Phase.GENERATE)
    lines = [line for line in _lines(chosen, phases) if line[1] not in _DENYING]
    others = sorted(item for item in loaded.files.items() if item[0] not in _JUDGED and not _is_list(item[0]))
    return lines, chosen.name, others


def judging(loaded: Loaded) -> object:
    """Return what decides between MetaData and the description, without places: equal = the same verdicts."""
    chosen = loaded.generation
    if chosen is None:
        return None
    rules = [
        (rule.name, rule.include, rule.enabled, rule.new_sites, [(m.source, m.method, m.value, m.ignore_case) for m in rule.matches])
        for rule in chosen.rules.rules
    ]  # fmt: skip
    sites = [(s.host, s.domain, s.enabled, s.use) for s in chosen.rules.sites]
    lists = sorted(item for item in loaded.files.items() if _is_list(item[0]))
    return (
        _lines(chosen, (Phase.METADATA, Phase.DATA)),
        rules,
        sites,
        sorted(chosen.mime.types.items()),
        lists,
    )


def _is_list(name: str) -> bool:
    """Whether a file is a list of URL patterns, or policy rules, which make no description another one."""
    return name.rpartition("/")[2] in _LISTS


def _lines(chosen: Filter, phases: tuple[Phase, ...]) -> list[tuple[Any, str, list[tuple[str, str]]]]:
    return [
        (
            directive.phase,
            directive.function,
            sorted(
                (name, repr(value))
                for name, value in directive.parameters.items()
                if not isinstance(value, Rules | MimeMap)
            ),
        )
        for phase in phases
        for directive in chosen.phase(phase)
    ]
