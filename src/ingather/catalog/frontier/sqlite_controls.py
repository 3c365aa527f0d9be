"""What hosts say of their documents in the heads of their answers, written in the transaction of the visit.

Before the visit itself is settled: a document is never written, not for a moment, without the rights that came with it.

Source: GSA feeds specification, sections 9.3 and 13.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import apsw
import msgspec

from ingather.catalog.access.sqlite_access import AccessStore
from ingather.catalog.access.sqlite_acl import WITHHELD, has_list
from ingather.catalog.feeds.sqlite_feeds import FeedStore, Listing
from ingather.catalog.packing import EMPTY_ATTRIBUTES, unpack_visits
from ingather.catalog.sqlite_apply import Applied, Applier
from ingather.model.controls import Controls
from ingather.model.lifecycle import Outcome
from ingather.model.report import Settled

__all__ = ["HeaderControls"]

_LAYER: Final = "header"
_DISPLAY_URL: Final = "display-url"
_SHOWN_SCHEMES: Final = frozenset({"http", "https", "ftp", "file", "smb", "notes"})
_REFUSALS: Final = frozenset({401, 403})
_ENOUGH_REFUSALS: Final = 3
_LONG_ENOUGH_S: Final = 86_400.0
_ASK_AGAIN_S: Final = 43_200.0
_GATHERED: Final = frozenset({
    Outcome.INDEXED, Outcome.CONVERSION_FAILED, Outcome.DUPLICATE, Outcome.ENUMERATED, Outcome.EXCLUDED, Outcome.NOINDEX,
    Outcome.UNCHANGED, Outcome.FAILED,
})  # fmt: skip
"""Outcomes of visits whose answer was about the document; a failed one has controls when only its body was not to be had."""
_ACL_METAS, _ACL_ELSEWHERE, _ACL_EARLIER = 1, 0, 4

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(dict[str, tuple[str, ...]]).decode


@dataclass(frozen=True, slots=True)
class _Row:
    """What is known of a URL; ``seen_s``: when it was last answered as a document."""

    url: str
    source: int
    kind: str
    fed: bool
    content: bool
    described: bool
    marks: int
    seen_s: float | None
    history: bytes
    asked: int


class HeaderControls:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, applier: Applier, access: AccessStore, feeds: FeedStore) -> None:
        self._cursor = db.cursor()
        self._applier = applier
        self._access = access
        self._feeds = feeds

    def apply(self, settled: Settled, applied: Applied) -> Settled:
        """Write what the head of a visit's answer says, and what a refusal means; call before the visit is settled.

        On the URLs of pushed sources, and of sources that say so, all of it counts. On others only what closes the
        document does: nobody asked them, and a denial is obeyed from anybody.

        Returns:
            What is to be settled: *settled*, due earlier where the host refused.
        """
        report = settled.report
        row = self._row(report.id)
        if row is None or row.content:  # its content comes with feeds: this visit is not settled either
            return settled
        controls = report.controls or Controls()
        if (
            row.asked > settled.row.asked and not controls.secured
        ):  # older than what was pushed, it opens nothing
            controls = msgspec.structs.replace(controls, secured=None, opened=False)
        heeded = controls.heeded or row.fed or row.kind == "gsa"
        if report.status in _REFUSALS:
            if heeded and row.described:
                return self._refused(settled, row, applied)
        elif controls.withheld:
            if heeded:
                self._withhold(report.id, row, controls.withheld, applied)
        elif report.outcome in _GATHERED:
            self._write(settled, row, controls, applied, heeded=heeded)
        return settled

    def _row(self, url_id: int) -> _Row | None:
        found = self._cursor.execute(
            "select h.origin || u.path, u.source, s.kind, f.id is not null, coalesce(f.content, 0), u.version is not null, u.acl, "
            "u.seen, coalesce(u.hist, x''), u.asked from url u join host h on h.id = u.host join source s on s.id = u.source "
            "left join fed f on f.id = u.id where u.id = ?",
            (url_id,),
        ).get
        return None if found is None else _Row(*found)

    # -- refusals -----------------------------------------------------------------------------

    def _refused(self, settled: Settled, row: _Row, applied: Applied) -> Settled:
        """A known document keeps its last ACL; when it was refused often and for long enough nobody sees it.

        It is asked again twice a day meanwhile, so that three answers over a day can be had.
        """
        report = settled.report
        first_s, count = report.at_s, 1
        for visit, _ in unpack_visits(row.history):
            if visit.status not in _REFUSALS:
                break
            first_s, count = visit.at_s, count + 1
        else:  # its history has nothing else: what it forgot began after the document was last seen
            first_s = min(first_s, row.seen_s or first_s)
        if count >= _ENOUGH_REFUSALS and report.at_s - first_s >= _LONG_ENOUGH_S:
            why = (
                f"refused (HTTP {report.status}) {count} times in {(report.at_s - first_s) / 3600:.0f} hours"
            )
            self._withhold(report.id, row, why, applied)
        elif count == 1:
            self._event(
                "refused", row.url, f"HTTP {report.status}: the document is kept with its last ACL; an adaptor gives documents "
                "to hosts alone that it knows (gsa.hostname, server.fullAccessHosts)",
            )  # fmt: skip
        again_s = report.at_s + _ASK_AGAIN_S
        due_s = again_s if settled.due_s is None else min(settled.due_s, again_s)
        return msgspec.structs.replace(settled, due_s=due_s)

    def _withhold(self, url_id: int, row: _Row, why: str, applied: Applied) -> None:
        if not row.marks & WITHHELD:
            self._event("withheld", row.url, f"nobody may see it until its host gives it again: {why}")
        self._applier.acl.renew(url_id, applied, withheld=True)

    # -- what the head says -------------------------------------------------------------------

    def _write(
        self, settled: Settled, row: _Row, controls: Controls, applied: Applied, *, heeded: bool
    ) -> None:
        url_id = settled.report.id
        listing = self._feeds.listing(url_id) if row.fed else None
        moved = self._rights(url_id, row, controls, listing, applied, heeded=heeded)
        changed = False
        if heeded:
            changed = self._metadata(url_id, controls, applied)
            listing = self._flags(row, controls, listing)
            if changed and row.described and not settled.report.described:
                self._feeds.changed(url_id, applied)
        if listing is not None:
            self._feeds.put_listing(url_id, listing)
        if controls.notes and (moved or changed or not row.described):
            for note in controls.notes:
                self._event("header", row.url, note)

    def _rights(  # noqa: PLR0913 - what, of what, and where it counts
        self, url_id: int, row: _Row, controls: Controls, listing: Listing | None, applied: Applied, *, heeded: bool
    ) -> bool:  # fmt: skip
        """ACL and security; an ACL of the answer replaces the stored one, whoever brought that."""
        moved = False
        if controls.acl is not None:
            moved = self._access.put_acl(replace(controls.acl, url=row.url), applied, of=row.source)
            if listing is not None:
                listing.acl = _ACL_ELSEWHERE
        if controls.secured is not None and (heeded or controls.secured):
            moved = self._access.secure(url_id, applied, secured=controls.secured) or moved
        elif (
            controls.opened and not row.fed
        ):  # closed by visits before; what feeds and hosts say of it stands
            moved = self._access.secure(url_id, applied, secured=False) or moved
        if heeded and (controls.no_acl or self._metas_went(row, controls, listing)):
            moved = self._access.delete_acl(row.url, applied) or moved
            if listing is not None:
                listing.acl = _ACL_ELSEWHERE
        return moved

    def _metas_went(self, row: _Row, controls: Controls, listing: Listing | None) -> bool:
        """Whether the answer has metadata without any ACL, says public, and the stored ACL is one of metadata.

        An adaptor of version 7.0 takes an ACL away in no other words.
        """
        if controls.acl is not None or controls.metadata is None or controls.secured is not False:
            return False
        if listing is not None and listing.acl & ~_ACL_EARLIER == _ACL_METAS:
            return True
        found = self._cursor.execute(
            "select source is null from acl where url = ? and chain is not null", (row.url,)
        ).get
        return bool(found)

    def _metadata(self, url_id: int, controls: Controls, applied: Applied) -> bool:
        """External metadata replace all that feeds and earlier heads said; a display URL stands beside them."""
        before = self._layer(url_id)
        if controls.metadata is None:
            now = dict(before)
        else:
            grouped: dict[str, list[str]] = {}
            for name, value in controls.metadata:
                if name != _DISPLAY_URL:
                    grouped.setdefault(name, []).append(value)
            now = {name: tuple(values) for name, values in grouped.items()}
            if _DISPLAY_URL in before:
                now[_DISPLAY_URL] = before[_DISPLAY_URL]
        shown = controls.display_url
        if shown is not None:
            now.pop(_DISPLAY_URL, None)
            if shown.partition(":")[0].strip().lower() in _SHOWN_SCHEMES:
                now[_DISPLAY_URL] = (shown,)
        changed = self._put_layer(url_id, before, now, applied)
        if controls.metadata is not None:
            fed = self._feeds.metadata(url_id)
            kept = {_DISPLAY_URL: fed[_DISPLAY_URL]} if _DISPLAY_URL in fed else {}
            changed = self._feeds.put_metadata(url_id, kept, applied) or changed
        return changed

    def _layer(self, url_id: int) -> dict[str, tuple[str, ...]]:
        blob = self._cursor.execute("select attrs from layer where id = ? and name = ?", (url_id, _LAYER)).get
        return {} if blob is None else _decode(blob)

    def _put_layer(
        self,
        url_id: int,
        before: Mapping[str, Sequence[str]],
        now: Mapping[str, Sequence[str]],
        applied: Applied,
    ) -> bool:
        if before == now:
            return False
        blob = _encode({name: list(values) for name, values in now.items()})
        if blob == EMPTY_ATTRIBUTES:
            self._cursor.execute("delete from layer where id = ? and name = ?", (url_id, _LAYER))
        else:
            self._cursor.execute(
                "insert or replace into layer (id, name, attrs, at) values (?, ?, ?, ?)",
                (url_id, _LAYER, blob, self._applier.now_s),
            )
        old = _encode({name: list(values) for name, values in before.items()})
        if has_list(blob) or has_list(old):  # a readacl counts from any layer
            self._applier.acl.renew(url_id, applied)
        return True

    def _flags(self, row: _Row, controls: Controls, listing: Listing | None) -> Listing | None:
        """Note crawl-once and lock beside what feeds say of the URL."""
        if controls.once is None and controls.locked is None:
            return listing
        if listing is None:
            if not (controls.once or controls.locked):
                return None
            listing = Listing(row.source, web=True)
        if controls.once is not None:
            listing.once = controls.once
        if controls.locked is not None:
            listing.locked = controls.locked
        return listing

    def _event(self, kind: str, url: str, text: str) -> None:
        self._applier.event(kind, url, text)
