"""generate-by-*, generate-rd-expires, generate-rd-last-modified (section 7.7)."""

from ingather.filters.dates import parse_date, rfc3339
from ingather.filters.evaluation import State
from ingather.filters.rafs.comparing import tester
from ingather.filters.sources import comparer, first, reader
from ingather.model.phase import Phase
from ingather.plugins import Binding, Run, builds

__all__ = [
    "SEVERAL",
    "generate_by_exact",
    "generate_by_prefix",
    "generate_by_regex",
    "generate_rd_expires",
    "generate_rd_last_modified",
]

SEVERAL = frozenset({"classification", "author", "keywords"})
"""Attributes that gather values instead of replacing them (DEC-25)."""

_LIFE_S = 90 * 86_400
"""Three months, as the database of descriptions counts them (DEC-26)."""


def _generate(binding: Binding, kind: str) -> Run:
    dst, value, src = (binding.parameters[name] for name in ("dst", "value", "src"))
    read = comparer(src)
    read_dst = reader(dst)
    test = tester(kind, binding.parameters["match"], src)
    generate = binding.directive.phase is Phase.GENERATE

    def run(state: State) -> None:
        found = read(state)
        if found is None or not test(found):
            return
        if dst in SEVERAL:
            old = read_dst(state)
            before = (old,) if isinstance(old, str) else old or ()
            state.set(dst, before if value in before else (*before, value))
        else:
            state.set(dst, value)
        if generate:
            there = state.attributes.get(dst, ()) if dst in SEVERAL else ()
            state.attributes[dst] = there if value in there else (*there, value)

    return run


@builds("generate-by-exact")
def generate_by_exact(binding: Binding) -> Run:
    """If the source equals a value."""
    return _generate(binding, "exact")


@builds("generate-by-prefix")
def generate_by_prefix(binding: Binding) -> Run:
    """If the source starts with a value."""
    return _generate(binding, "prefix")


@builds("generate-by-regex")
def generate_by_regex(binding: Binding) -> Run:
    """If the source matches a pattern."""
    return _generate(binding, "regex")


@builds("generate-rd-expires")
def generate_rd_expires(binding: Binding) -> Run:
    """What the resource says (header, then META), unless it is past or no date; else now and 90 days."""
    dst = binding.parameters["dst"]
    read = reader("expires")

    def run(state: State) -> None:
        stated = parse_date(first(read(state)) or "")
        now_s = state.now_s
        text = rfc3339(stated if stated is not None and stated > now_s else now_s + _LIFE_S)
        state.set(dst, text)
        state.attributes[dst] = (text,)

    return run


@builds("generate-rd-last-modified")
def generate_rd_last_modified(binding: Binding) -> Run:
    """Now."""
    dst = binding.parameters["dst"]

    def run(state: State) -> None:
        text = rfc3339(state.now_s)
        state.set(dst, text)
        state.attributes[dst] = (text,)

    return run
