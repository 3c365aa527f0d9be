"""Pushing: a feed goes out, ``Success`` comes back, or it is tried again.

What a server says is judged by its text, as Google's clients do, because some answer errors with the status 200 (GSA feeds
specification, section 5). A push that may or may not have arrived is made again: applying a feed twice changes nothing.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import BinaryIO, Final, TypeVar, cast

from ingather.client.groups import GroupWriter
from ingather.client.target import Target
from ingather.client.wire import ChunkedOutput, Form, gzipped
from ingather.client.writing import FeedWriter
from ingather.client.xmltext import FeedWriteError, check_datasource
from ingather.errors import IngatherError
from ingather.model.feed import FeedType

__all__ = ["FeedClient", "PushError", "Pushed"]

_T = TypeVar("_T")
_SUCCESS: Final = "success"
_FULL_DISK: Final = "insufficient disk space"
_ANSWER_BYTES: Final = 1 << 16
_IN_MEMORY: Final = 1 << 22
_SERVER_ERROR: Final = 500
_NOT_FOUND: Final = 404
_FORBIDDEN: Final = 403
_GROUP_MODES: Final = ("incremental", "full", "replace", "cleanup")


class PushError(IngatherError):
    """A feed was not taken; *status* is the answer's, 0 = there was none. *again*: later it might be."""

    def __init__(self, text: str, *, status: int = 0, again: bool = False, hint: str | None = None) -> None:
        super().__init__(text, hint=hint)
        self.status, self.again = status, again


@dataclass(slots=True)
class Pushed:
    """A feed that was taken.

    Attributes:
        feed: its name at an Ingather, where ``ingather feed show`` tells of it; an appliance gives none.
        status_url: where an Ingather tells of it.
        tries: how often it was sent.
    """

    feed: str = ""
    status_url: str = ""
    tries: int = 0


class FeedClient:
    """Pushes feeds to one place. Each push is a connection of its own; use an object in one thread at a time."""

    def __init__(  # noqa: PLR0913 (each by keyword)
        self,
        to: Target | str,
        *,
        token: str = "",
        compress: bool = False,
        timeout_s: float = 120.0,
        tries: int = 12,
        retry_s: float = 5.0,
        pause_above: int = 4000,
        resume_below: int = 1000,
        ask_s: float = 30.0,
        sleep: Callable[[float], object] = time.sleep,
        notice: Callable[[str], object] = lambda _text: None,
    ) -> None:
        """Know where to push to; nothing is sent yet.

        Args:
            to: the place, or ``HOST[:PORT]``.
            token: of the data source, if the server wants one.
            compress: the body of each request is sent as gzip.
            timeout_s: without a byte from the server.
            tries: of one push, while connections break or the server has trouble.
            retry_s: wait behind the first try; behind the n-th it is n times as long.
            pause_above: records in the server's backlog beyond which pushing waits.
            resume_below: records below which it goes on.
            ask_s: between two looks at the backlog.
            sleep: how to wait.
            notice: is told in words what is waited for.

        Raises:
            UsageError: *to* is no place.
        """
        self.to = Target.read(to) if isinstance(to, str) else to
        self._token, self._compress, self._timeout_s = token, compress, timeout_s
        self._tries, self._retry_s = max(tries, 1), retry_s
        self._pause_above, self._resume_below, self._ask_s = pause_above, resume_below, ask_s
        self._sleep, self._notice = sleep, notice

    # --- feeds --------------------------------------------------------------------------------------------

    def push(
        self, data: Path | BinaryIO, datasource: str, feedtype: FeedType | str, *, media: str = "text/xml"
    ) -> Pushed:
        """Push a feed that lies in a file (or a binary file that can seek, from its beginning).

        *media*: ``application/x-ndjson`` for JSON lines, which only Ingather takes.

        Raises:
            PushError: it was not taken.
            FeedWriteError: *datasource* or *feedtype* is none.
            OSError: the file cannot be read.
        """
        try:
            kind = FeedType(feedtype)
        except ValueError:
            raise FeedWriteError(
                f"{feedtype!r} is not a feed type", hint="it is full, incremental or metadata-and-url"
            ) from None
        fields = {"datasource": check_datasource(datasource), "feedtype": str(kind)}
        return self._deliver("/xmlfeed", fields, data, media)

    def push_groups(
        self, data: Path | BinaryIO | None, groupsource: str, mode: str = "incremental"
    ) -> Pushed:
        """Push memberships.

        *mode*: ``incremental`` adds them; ``full`` replaces all (an appliance: of every source); ``replace`` replaces
        those of *groupsource*; ``cleanup`` removes those, without *data*.

        Raises:
            PushError, FeedWriteError, OSError: see :meth:`push`.
        """
        check_datasource(groupsource, "group source")
        if mode not in _GROUP_MODES or (mode == "cleanup") != (data is None):
            raise FeedWriteError(
                f"{mode!r} with{'out' if data is None else ''} data is no way to push groups",
                hint="it is incremental, full or replace with data, or cleanup without",
            )
        fields = (
            {mode: groupsource}
            if mode in {"replace", "cleanup"}
            else {"groupsource": groupsource, "feedtype": mode}
        )
        return self._deliver("/xmlgroups", fields, data, "text/xml")

    @contextmanager
    def feed(self, datasource: str, feedtype: FeedType | str) -> Iterator[FeedWriter]:
        """Make a feed and push it at the end; it is kept in a temporary file, so that it can be sent again.

        Raises:
            PushError: it was not taken. After an exception inside nothing is sent.
        """
        with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as held:
            with FeedWriter(held, datasource, feedtype) as writer:
                yield writer
            self.push(cast("BinaryIO", held), datasource, feedtype)

    @contextmanager
    def groups(self, groupsource: str, mode: str = "incremental") -> Iterator[GroupWriter]:
        """Make a feed of memberships and push it at the end; see :meth:`feed` and :meth:`push_groups`."""
        with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as held:
            with GroupWriter(held) as writer:
                yield writer
            self.push_groups(cast("BinaryIO", held), groupsource, mode)

    @contextmanager
    def stream(self, datasource: str, feedtype: FeedType | str) -> Iterator[FeedWriter]:
        """Push a feed while it is made, kept nowhere. It is not sent again when the connection breaks.

        After an exception inside, the request is left unfinished, and the server takes nothing.

        Raises:
            PushError: it was not taken.
        """
        form = Form.of({"datasource": check_datasource(datasource), "feedtype": str(feedtype)})
        self.wait_for_room()
        connection = self.to.connect(self._timeout_s)
        try:
            try:
                connection.putrequest("POST", "/xmlfeed")
                for name, value in self._headers(form.content_type, chunked=True).items():
                    connection.putheader(name, value)
                connection.endheaders()
                out = ChunkedOutput(connection.send, compress=self._compress)
                out.write(form.head)
                with FeedWriter(out, datasource, feedtype) as writer:
                    yield writer
                out.write(form.tail)
                out.end()
            except (BrokenPipeError, ConnectionResetError) as error:
                _early_answer(connection)
                raise self._broken(error) from error
            try:
                _judge(connection.getresponse())
            except (OSError, HTTPException) as error:
                raise self._broken(error) from error
        finally:
            connection.close()

    # --- backlog ------------------------------------------------------------------------------------------

    def backlog(self) -> int | None:
        """Return how many records wait at the server; ``None``: it does not say.

        Raises:
            PushError: the sender is not trusted, or the server cannot be reached.
        """
        connection = self.to.connect(self._timeout_s)
        try:
            connection.request("GET", "/getbacklogcount", headers=self._headers(""))
            answer = connection.getresponse()
            text = answer.read(_ANSWER_BYTES).decode("utf-8", "replace").strip()
        except (OSError, HTTPException) as error:
            raise self._broken(error) from error
        finally:
            connection.close()
        if answer.status == _FORBIDDEN or "unauthorized" in text.lower():
            raise _refusal(answer.status, text)
        return int(text) if text.isascii() and text.isdigit() else None

    def wait_for_room(self) -> None:
        """Wait while the backlog is high.

        Raises:
            PushError: see :meth:`backlog`.
        """
        count = self._retried(self.backlog)[0]
        if count is None or count <= self._pause_above:
            return
        while count is not None and count >= self._resume_below:
            self._notice(f"{self.to}: {count} records wait there; going on below {self._resume_below}")
            self._sleep(self._ask_s)
            count = self._retried(self.backlog)[0]

    # --- one push -----------------------------------------------------------------------------------------

    def _deliver(
        self, path: str, fields: Mapping[str, str], data: Path | BinaryIO | None, media: str
    ) -> Pushed:
        if isinstance(data, Path):
            with data.open("rb") as file:
                return self._deliver(path, fields, file, media)
        self.wait_for_room()
        pushed, tries = self._retried(lambda: self._once(path, fields, data, media))
        pushed.tries = tries
        return pushed

    def _once(self, path: str, fields: Mapping[str, str], data: BinaryIO | None, media: str) -> Pushed:
        form = Form.of(fields, media=media, data=data is not None)
        size = 0
        if data is not None:
            size = data.seek(0, 2)
            data.seek(0)
        headers = self._headers(form.content_type, chunked=self._compress)
        body = form.around(data)
        if self._compress:
            body = gzipped(body)
        else:
            headers["Content-Length"] = str(len(form.head) + size + len(form.tail))
        connection = self.to.connect(self._timeout_s)
        try:
            try:
                connection.request("POST", path, body, headers, encode_chunked=self._compress)
            except (BrokenPipeError, ConnectionResetError):
                _early_answer(connection)
                raise
            return _judge(connection.getresponse())
        except (OSError, HTTPException) as error:
            raise self._broken(error) from error
        finally:
            connection.close()

    def _retried(self, act: Callable[[], _T]) -> tuple[_T, int]:
        number = 0
        while True:
            number += 1
            try:
                return act(), number
            except PushError as error:
                if not error.again or number >= self._tries:
                    raise
                wait_s = self._retry_s * number
                self._notice(f"{self.to}: {error.text}; trying again in {wait_s:g} s")
                self._sleep(wait_s)

    def _headers(self, content_type: str, *, chunked: bool = False) -> dict[str, str]:
        headers = {"User-Agent": "ingather-feed", "Connection": "close"}
        if content_type:
            headers["Content-Type"] = content_type
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if chunked:
            headers["Transfer-Encoding"] = "chunked"
            if self._compress:
                headers["Content-Encoding"] = "gzip"
        return headers

    def _broken(self, error: Exception) -> PushError:
        return PushError(
            f"the connection to {self.to} failed: {str(error) or type(error).__name__}",
            again=True,
            hint="is the server up, and is this its feed port?",
        )


def _early_answer(connection: HTTPConnection) -> None:
    """Raise what the server said before it closed the connection under a body, if it said something."""
    if connection.sock is None:
        return
    with suppress(OSError, HTTPException):
        # An answer may lie ready although the request could not be sent to its end.
        answer = HTTPResponse(connection.sock, method="POST")
        answer.begin()
        _judge(answer)


def _judge(answer: HTTPResponse) -> Pushed:
    text = answer.read(_ANSWER_BYTES).decode("utf-8", "replace").strip()
    if text.lower() == _SUCCESS:
        return Pushed(answer.getheader("X-Feed-Id") or "", answer.getheader("X-Feed-Status-Url") or "")
    raise _refusal(answer.status, text)


def _refusal(status: int, text: str) -> PushError:
    line = " ".join(text.split())[:300] or "no text"
    lower = text.lower()
    again = status >= _SERVER_ERROR or _FULL_DISK in lower or lower == "internal error"
    hint = None
    if "unauthorized" in lower:
        hint = "have feeds of this machine's address taken there (Ingather: ingather feed accept-from ADDRESS), or show a token"
    elif status == _NOT_FOUND:
        hint = "is this the feed port of the server?"
    return PushError(f"the server answered {status}: {line}", status=status, again=again, hint=hint)
