"""From a body that is complete to ``Success``: durable file, row, then the word (promises D1, F1, F9)."""

import asyncio
import errno
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from ingather.errors import DiskFullError, IngatherError
from ingather.feeds.authority import Sender
from ingather.feeds.desk import (
    LIGHT_BYTES,
    FeedDesk,
    FeedFields,
    FeedKind,
    FeedRefusedError,
    FeedTicket,
    GroupsFullError,
    Spooled,
)
from ingather.feeds.spool import Spool
from ingather.log import get
from ingather.web.feedgate.answers import Answer, feed_headers, internal, json_answer, refused, success
from ingather.web.feedgate.counting import GateCounts
from ingather.web.feedgate.fields import Order
from ingather.web.feedgate.head import RequestHead
from ingather.web.feedgate.reception import BodyLimits, Reception
from ingather.web.feedgate.refusal import DISK_TEXT, UNAUTHORIZED_TEXT, RefusedError, bad
from ingather.web.feedgate.storing import Storing

__all__ = ["Doors", "Intake", "Taking", "answer_for"]

_log = get("feeds")
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_ROOM_EVERY: Final = 16 << 20
_FORM: Final = 64 << 10
"""What a form may have around a small feed."""
_SHORT: Final = 4096
"""Pieces that are not worth a thread, even compressed ones: the ratio bounds what they unpack to."""
_UNREADABLE: Final = 422
_NO_ROOM: Final = 507
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Doors:
    """What the intake leads to.

    Attributes:
        desk: takes feeds.
        spool: where they lie.
        room: whether so many more bytes fit without touching the reserve of the disk.
        last: the same without touching the part of the reserve that is left alone even by feeds which only revoke.
        pool: threads for the disk.
        examine: checks a feed for ``dryrun`` and returns its report; called in a thread.
        status_url: what precedes a feed's name in ``X-Feed-Status-Url``, ``""`` = the field is left out.
        limits: of bodies.
        wait_s: how long a sender that asks to wait does so at most.
    """

    desk: FeedDesk
    spool: Spool
    room: Callable[[int], bool]
    last: Callable[[int], bool]
    pool: Executor
    examine: Callable[[Spooled, FeedFields], Mapping[str, Any]]
    status_url: str = ""
    limits: BodyLimits = field(default_factory=BodyLimits)
    wait_s: float = 300.0


class Intake:
    """Takes bodies; used by the gate and by the admin listener, each on its own event loop."""

    def __init__(self, doors: Doors) -> None:
        self._doors = doors
        self._storing = Storing(doors.pool)
        self.counts = GateCounts()

    def backlog(self) -> int:
        """Return how many records wait."""
        return max(0, self._doors.desk.backlog())

    def begin(self, head: RequestHead) -> "Taking":
        """Begin with a request's body.

        Raises:
            RefusedError: the head alone is reason enough, or the disk is full.
        """
        length = head.length or 0
        scarce = not self._doors.room(length)
        if scarce and (length > LIGHT_BYTES + _FORM or not self._doors.last(length or LIGHT_BYTES)):
            raise RefusedError(_NO_ROOM, DISK_TEXT)
        return Taking(self, Reception(head, self._doors.spool, self._doors.limits), scarce=scarce)

    def require_room(self) -> None:
        """Refuse, in the appliance's words, to go on filling the disk.

        Raises:
            RefusedError: there is no room any more.
        """
        if not self._doors.room(0):
            raise RefusedError(_NO_ROOM, DISK_TEXT)

    async def threaded(self, work: Callable[..., T], *arguments: Any) -> T:
        """Run *work* in one of the disk's threads."""
        return await self.begun(work, *arguments)

    def begun(self, work: Callable[..., T], *arguments: Any) -> "asyncio.Future[T]":
        """Begin *work* in one of the disk's threads."""
        return asyncio.get_running_loop().run_in_executor(self._doors.pool, work, *arguments)

    async def store(self, reception: Reception, order: Order, sender: Sender) -> Answer:
        """Make a complete feed durable, hand it over, and answer.

        Raises:
            RefusedError: the desk does not take it.
            OSError, CatalogError: nothing was kept.
        """
        fields, doors = order.fields, self._doors
        spooled = await self._storing.commit(reception.file)
        if fields.dryrun:
            return await self._dry_run(reception, spooled, fields)
        try:
            ticket = await doors.desk.accept(spooled, fields, sender)
        except GroupsFullError as error:
            await self.threaded(reception.discard)
            raise RefusedError(_NO_ROOM, error.text) from None
        except FeedRefusedError as error:
            await self.threaded(reception.discard)
            raise bad(str(error)) from None
        except BaseException:
            await self.threaded(reception.discard)
            raise
        self.counts.accept(fields.kind, spooled.size)
        _log.info(
            "feed received", feed=ticket.name, source=fields.datasource, type=fields.feedtype, sender=sender.address,
            bytes=spooled.size, records=spooled.records, warnings=list(fields.warnings),
        )  # fmt: skip
        return await self._answer(order, ticket)

    async def _dry_run(self, reception: Reception, spooled: Spooled, fields: FeedFields) -> Answer:
        try:
            return json_answer(await self.threaded(self._doors.examine, spooled, fields))
        finally:
            await self.threaded(reception.discard)

    async def _answer(self, order: Order, ticket: FeedTicket) -> Answer:
        doors = self._doors
        if not (order.wait or order.wait_for_text):
            return success(ticket, doors.status_url)
        report = await doors.desk.report(ticket.name, wait_s=doors.wait_s)
        if order.wait:
            return json_answer(report, 200, feed_headers(ticket, doors.status_url))
        if str(report.get("state", "")).startswith("failed"):
            reason = report.get("detail") or "see its report"
            return refused(RefusedError(_UNREADABLE, f"Error - the feed failed: {reason}"))
        return success(ticket, doors.status_url)


class Taking:
    """One body that is coming in.

    *scarce*: the disk is full up to the reserve, so that it is taken only if it is small and brings no contents.
    """

    def __init__(self, intake: Intake, reception: Reception, *, scarce: bool = False) -> None:
        self._intake, self._scarce = intake, scarce
        self._reception = reception
        self._unasked = 0
        self._storing: asyncio.Future[None] | None = None
        """What is on its way to the disk while the next bytes come."""

    async def feed(self, piece: bytes) -> None:
        """Take the next bytes.

        Raises:
            RefusedError: they cannot be taken.
            OSError: they cannot be written.
        """
        reception = self._reception
        self._unasked += len(piece)
        if self._unasked >= _ROOM_EVERY:
            self._unasked = 0
            self._intake.require_room()
        if reception.quick or len(piece) < _SHORT:
            reception.feed(piece)
        else:  # it may write, too
            await self._stored()
            await self._intake.threaded(reception.feed, piece)
        self._require_light()
        if reception.file.full:
            await self._stored()
            self._storing = self._intake.begun(reception.file.store, reception.file.take())

    def _require_light(self) -> None:
        """Refuse contents while there is no room: deletions and revocations must always work, also by feed.

        Raises:
            RefusedError: there is none.
        """
        if self._scarce and not self._reception.file.light:
            raise RefusedError(_NO_ROOM, DISK_TEXT)

    async def _stored(self) -> None:
        """Wait until what is on its way is on the disk.

        Raises:
            OSError: it could not be written.
        """
        if self._storing is not None:
            await asyncio.shield(self._storing)  # whoever gives up must still wait for the thread
            self._storing = None

    async def finish(self, sender: Sender) -> Answer:
        """End the body; return the answer when the feed is durable and has its row.

        Raises:
            RefusedError: it cannot be taken.
            OSError, IngatherError: nothing was kept.
        """
        await self._stored()
        order = self._reception.finish()
        self._require_light()
        fields, groups = order.fields, order.fields.kind is FeedKind.GROUPS
        if not sender.grant.admits(fields.datasource, groups=groups):
            name = sender.grant.token
            _log.warning(
                "a token does not admit a feed",
                token=name,
                source=fields.datasource,
                kind=str(fields.kind),
                sender=sender.address,
                hint=f"ingather feed token {name} --{'group-' if groups else ''}source {fields.datasource}"
                + (" --namespace NAME" if groups else ""),
            )
            raise RefusedError(403, UNAUTHORIZED_TEXT)
        return await self._intake.store(self._reception, order, sender)

    async def discard(self) -> None:
        """Forget what has come."""
        if self._storing is not None:
            await asyncio.wait({self._storing})  # its thread holds the file
            self._storing.exception()
        if not self._reception.file.in_memory:
            await self._intake.threaded(self._reception.discard)


def answer_for(error: Exception) -> Answer:
    """Return what a sender is told about *error*."""
    if isinstance(error, RefusedError):
        return refused(error)
    if isinstance(error, DiskFullError) or (isinstance(error, OSError) and error.errno in _FULL):
        _log.error("no room for a feed", error=str(error))
        return Answer(_NO_ROOM, DISK_TEXT.encode())
    if not isinstance(error, IngatherError | OSError):
        trace = "".join(traceback.format_exception(error))
        _log.error("a feed request failed", trace=trace)
    else:
        _log.error("a feed request failed", error=str(error))
    return internal()
