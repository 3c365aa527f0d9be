"""One search beside the event loop: the service in a thread, within its time."""

from ingather.search import SearchResults
from ingather.web.asking import Asked
from ingather.web.state import SearchState

__all__ = ["run_search"]


async def run_search(state: SearchState, asked: Asked) -> SearchResults:
    """Ask the search service.

    Raises:
        QueryError: the query is beyond its bounds.
        IndexingError: the index cannot be read.
        WebError: 503, too many searches at once, or this one took too long.
    """
    wanted = asked.as_request()
    return await state.workers.run(lambda: state.parts.search(wanted), timeout_s=state.parts.limits.query_s)
