"""What must hold between the directives of one filter: order, once, requires."""

from collections.abc import Sequence

from ingather.conf.filters.directives import Directive
from ingather.conf.report import Report
from ingather.model.phase import Phase

__all__ = ["check_sequence"]

_RANK = {
    Phase.SETUP: 0,
    Phase.METADATA: 1,
    Phase.DATA: 2,
    Phase.ENUMERATE: 3,
    Phase.GENERATE: 3,
    Phase.SHUTDOWN: 4,
}
_DIGEST_READERS = frozenset({"filter-by-md5"})


def check_sequence(directives: Sequence[Directive], report: Report) -> None:
    """Check the enabled *directives* of one filter, given in file order."""
    _order(directives, report)
    _once(directives, report)
    _requires(directives, report)
    _left_over(directives, report)


def _runs_before(one: Directive, at: int, other: Directive, other_at: int) -> bool:
    """Tell whether directive *one* (number *at* in the file) has run when *other* runs."""
    if one.phase is other.phase:
        return at < other_at
    return _RANK[one.phase] < _RANK[other.phase]


def _order(directives: Sequence[Directive], report: Report) -> None:
    highest: Directive | None = None
    for directive in directives:
        if highest is not None and _RANK[directive.phase] < _RANK[highest.phase]:
            report.add(
                "W-ORDER",
                directive.place,
                f"{directive.phase} stands after {highest.phase} but runs before it",
                notes=((highest.place, f"{highest.phase} stands here"),),
            )
        else:
            highest = directive


def _once(directives: Sequence[Directive], report: Report) -> None:
    seen: dict[str, Directive] = {}
    for directive in directives:
        name = directive.function
        first = seen.setdefault(name, directive)
        if first is directive:
            continue
        notes = ((first.fn_place, "first used here"),)
        if directive.spec.once:
            report.add("E-ONCE", directive.fn_place, f"{name} may be used once in a filter", notes=notes)
        elif name in {"filterrules-setup", "setup-regex-cache"}:
            report.add(
                "W-REPEAT", directive.fn_place, f"{name} is repeated: this last one counts", notes=notes
            )
            seen[name] = directive


def _requires(directives: Sequence[Directive], report: Report) -> None:
    for at, directive in enumerate(directives):
        needed = directive.spec.requires
        if needed and not any(
            other.function == needed and _runs_before(other, i, directive, at)
            for i, other in enumerate(directives)
        ):
            report.add(
                "E-REQUIRES",
                directive.fn_place,
                f"{directive.function} needs {needed} earlier in the same filter",
                hint=f"add a line with fn={needed} that runs before this one",
            )


def _left_over(directives: Sequence[Directive], report: Report) -> None:
    names = {d.function for d in directives}
    for directive in directives:
        if directive.function == "filterrules-setup" and "filterrules-shutdown" not in names:
            report.add("W-REQUIRES", directive.fn_place, "filterrules-setup without filterrules-shutdown")
            names.add("filterrules-shutdown")
        elif directive.function == "generate-md5" and not any(map(_reads_digest, directives)):
            report.add("W-REQUIRES", directive.fn_place, "generate-md5, but nothing uses md5")


def _reads_digest(directive: Directive) -> bool:
    if directive.function in _DIGEST_READERS:
        return True
    src = directive.parameters.get("src")
    if isinstance(src, tuple):
        return any(pair[0] == "md5" for pair in src)
    return src == "md5"
