"""Listings: files of external metadata that others publish, fetched on schedule through the egress gate.

Each URL of ``overlay.listings`` is a layer below the files and the records. What cannot be had, or has errors, does not
take away what was there: the last text goes on, and with ``listing-fail-on-error`` nothing of that round is taken in.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus

from ingather.app.background import Background
from ingather.app.overlay.inforce import Change
from ingather.app.overlay.laying import Overlays
from ingather.app.overlay.texts import FETCHED, SWITCHES
from ingather.app.overlay.watch import OverlayWatch
from ingather.conf.settings.values import Settings
from ingather.errors import IngatherError
from ingather.log import get
from ingather.model.resource import Failure, Response

__all__ = ["Listings"]

_log = get("overlay")

Fetch = Callable[[str, str], Awaitable[Response | Failure]]
"""Asks for a URL as a source may: (URL, source)."""


class Listings(Background):
    """Fetches the listings of a home, on the keeper's loop.

    Args:
        overlays: what is laid over documents.
        watch: puts new versions in force.
        settings: section ``overlay``.
        fetch: through the gate; called for one URL after another.
    """

    def __init__(self, overlays: Overlays, watch: OverlayWatch, settings: Settings, fetch: Fetch) -> None:
        self._overlays, self._watch, self._fetch = overlays, watch, fetch
        self._urls = settings.words("overlay.listings")
        self._source = settings.text("overlay.listing-source")
        self._strict = settings.flag("overlay.listing-fail-on-error")
        self._interval_s = settings.seconds("overlay.listing-interval")

    def start(self) -> None:
        """Begin to fetch, if there is anything to."""
        if self._urls:
            super().start()

    async def round(self) -> bool:
        """Fetch every listing once; return whether another version is in force now."""
        got: dict[str, bytes | None] = {}
        failed: dict[str, str] = {}
        for url in self._urls:
            layer = f"{FETCHED}:{url}"
            body, trouble = await self._ask(url)
            if body is not None:
                good = self._overlays.texts().get(layer)
                taken = self._overlays.judge(layer, body, good, refuse=True)
                if taken.state != "ok":
                    first = next((str(d) for d in taken.overlay.diagnostics if d.is_error), "")
                    trouble = f"it has errors: {first}"
                body = taken.text if taken.state in {"ok", "partly"} else None
            if trouble:
                failed[layer] = f"{url}: {trouble}"
            got[layer] = body
        self._overlays.note_listings(failed)
        if failed and self._strict:
            return False
        return await self._watch.put(lambda: self._change(got), note="listings")

    def _change(self, got: Mapping[str, bytes | None]) -> Change | None:
        """Return what is in force with the listings as they are now; files may have changed while they were fetched."""
        texts = self._overlays.texts()
        fresh = {name: text for name, text in texts.items() if not name.startswith(FETCHED)}
        fresh[SWITCHES] = self._overlays.switches.text()
        for layer, body in got.items():
            kept = texts.get(layer) if body is None else body
            if kept:
                fresh[layer] = kept
        if fresh == texts or (not texts and fresh.keys() == {SWITCHES}):
            return None
        return Change(fresh, states=self._overlays.states())

    async def _ask(self, url: str) -> tuple[bytes | None, str]:
        got = await self._fetch(url, self._source)
        if isinstance(got, Failure):
            return None, f"{got.kind} {got.detail}".strip()
        if got.status != HTTPStatus.OK:
            return None, f"it answered {got.status}"
        return got.body, ""

    async def run(self) -> None:
        """Fetch again and again."""
        while True:
            try:
                await self.round()
            except IngatherError as error:
                _log.warning("listings were not taken in", error=str(error))
            await asyncio.sleep(self._interval_s)
