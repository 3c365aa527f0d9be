"""One search beside the event loop: who searches, then the service, in a thread, within its time."""

from dataclasses import replace

from ingather.model.viewer import Viewer
from ingather.search import SearchResults
from ingather.web.asking import Asked
from ingather.web.state import SearchState

__all__ = ["run_search"]


async def run_search(state: SearchState, asked: Asked, viewer: Viewer) -> SearchResults:
    """Ask the search service what *viewer* may see.

    Raises:
        QueryError: the query is beyond its bounds.
        IndexingError: the index cannot be read.
        CatalogError: what the viewer may see cannot be known.
        WebError: 503, too many searches at once, or this one took too long.
    """
    parts = state.parts

    def work() -> SearchResults:
        wanted = asked.as_request()
        if viewer.known and parts.sees is not None:
            wanted = replace(wanted, viewer=parts.sees(viewer))
        return parts.search(wanted)

    return await state.workers.run(work, timeout_s=parts.limits.query_s)
