"""generate-md5 and filter-by-md5: one description for equal bytes (sections 7.5 and 7.7)."""

from collections.abc import Mapping

from ingather.filters.evaluation import State
from ingather.filters.sources import first, reader
from ingather.model.verdict import Exclusion, Verdict
from ingather.plugins import Binding, Run, builds

__all__ = ["filter_by_md5", "generate_md5"]


@builds("generate-md5")
def generate_md5(_: Binding) -> Run:
    """Set source md5 to the digest of the body as it came, content encoding removed."""

    def run(state: State) -> None:
        state.set("md5", state.evaluation.md5)

    return run


@builds("filter-by-md5")
def filter_by_md5(binding: Binding) -> Run:
    """Note that the digest is to be settled; deny at once where the engine knows the head of the group.

    Which URL of a group is described is settled in the catalog (smallest depth and URL), where
    it cannot depend on the order of arrival.
    """
    directive = binding.directive
    digests: Mapping[str, str] | None = binding.engine.digests
    read = reader("md5")

    def run(state: State) -> Verdict | None:
        state.dedupe = directive.where
        digest = first(read(state))
        head = digests.get(digest) if digests is not None and digest else None
        if not head or head == state.evaluation.url:
            return None
        return Verdict(
            allowed=False,
            reason=f"duplicate of {head}",
            category=Exclusion.DUPLICATION,
            where=directive.where,
            phase=directive.phase,
        )

    return run
