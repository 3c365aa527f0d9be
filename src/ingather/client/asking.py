"""Asking: a query goes out, documents come back, with the rights of whose token is shown.

Without a token only what everybody may see is found. Nothing is asked twice by itself: :attr:`SearchError.again` says
whether it would help.
"""

import json
import re
import ssl
from collections.abc import Collection, Iterator, Mapping
from datetime import date as Day  # noqa: N812 - `date` is a parameter here
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from ingather.client.found import Answer, Found, answer_of
from ingather.errors import IngatherError, UsageError

__all__ = ["Search", "SearchError"]

_PORT: Final = 7070
_MOST: Final = 100
_WINDOW: Final = 10_000
_ANSWER_BYTES: Final = 64 << 20
_OK: Final = 200
_LATER: Final = frozenset({429, 502, 503, 504})
_UNFIT: Final = re.compile(r"[\x00-\x20\x7f-\U0010ffff]")


class SearchError(IngatherError):
    """A question was not answered.

    Attributes:
        status: the answer's, 0 = there was none.
        code: of the error in the answer (``bad-query``, ``busy``; the reference of HTTP lists them), ``""`` = none.
        again: later it might be answered.
        retry_after_s: how long the server asks to wait, ``None`` = it does not say.
    """

    def __init__(  # noqa: PLR0913 (each by keyword)
        self,
        text: str,
        *,
        status: int = 0,
        code: str = "",
        again: bool = False,
        retry_after_s: float | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(text, hint=hint)
        self.status, self.code, self.again, self.retry_after_s = status, code, again, retry_after_s


class Search:
    """Asks one Ingather. Each question is a connection of its own; an object may be shared by threads."""

    def __init__(self, to: str, *, token: str = "", timeout_s: float = 30.0, verify: bool = True) -> None:
        """Know whom to ask; nothing is sent yet.

        Args:
            to: ``https://search.example``, with a path if it stands behind one, or ``HOST[:PORT]`` (plain HTTP, 7070).
            token: as whom to ask; see ``ingather token add``.
            timeout_s: without a byte from the server.
            verify: whether the certificate of the server is checked.

        Raises:
            UsageError: *to* is no place, or *token* no token.
        """
        whole = "://" in to
        try:
            parts = urlsplit(to.strip() if whole else f"http://{to.strip()}")
            self._host, port = parts.hostname or "", parts.port
        except ValueError:
            parts, self._host, port = urlsplit(""), "", None
        if (
            not self._host
            or parts.scheme not in {"http", "https"}
            or _UNFIT.search(self._host)
            or "@" in parts.netloc
            or parts.query
            or parts.fragment
        ):
            raise UsageError(f"{to!r} is no place to ask", hint="write https://HOST or HOST:PORT")
        if _UNFIT.search(token):
            raise UsageError(
                "The token holds characters that no token has", hint="is there a line end behind it?"
            )
        self._tls, self._verify = parts.scheme == "https", verify
        self._port = port or ((443 if self._tls else 80) if whole else _PORT)
        self._path = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~") + "/api/v1/search"
        self._token, self._timeout_s = token, timeout_s

    def __str__(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._tls else 'http'}://{host}:{self._port}"

    def search(  # noqa: PLR0913 (each by keyword)
        self,
        query: str,
        *,
        num: int | None = None,
        start: int = 0,
        types: Collection[str] = (),
        sites: Collection[str] = (),
        classes: Mapping[str, str | Collection[str]] | None = None,
        databases: Collection[str] = (),
        date: str = "",
        after: Day | None = None,
        before: Day | None = None,
        sort: str = "relevance",
    ) -> Answer:
        """Ask once.

        Args:
            query: as people write it; the reference of the query language has what it may hold.
            num: results wanted, 1 to 100 unless the server's settings say otherwise; ``None`` = a page of them, as the
                server has it.
            start: results before the first one wanted; the first 10,000 can be reached.
            types: short names of types (``pdf``), any of them.
            sites: hosts or domains, with the beginning of a path if wanted, any of them.
            classes: metadata class to the whole value wanted, or to several, any of them.
            databases: names of databases, any of them.
            date: not older than a ``day``, ``week``, ``month`` or ``year``; or else:
            after: first day wanted, UTC.
            before: last day wanted.
            sort: ``relevance``, or ``date`` for the newest first.

        Raises:
            SearchError: it was not answered; what the server found wrong with the question is in it.
        """
        pairs = [("q", query), ("start", str(start)), ("sort", sort)]
        pairs += [] if num is None else [("num", str(num))]
        pairs += [("type", one) for one in _several(types)]
        pairs += [("site", one) for one in _several(sites)]
        pairs += [("database", one) for one in _several(databases)]
        pairs += [
            ("class", f"{name}:{value}")
            for name, values in (classes or {}).items()
            for value in _several(values)
        ]
        pairs += [("date", date)] if date else []
        pairs += [
            (name, day.strftime("%Y-%m-%d")) for name, day in (("after", after), ("before", before)) if day
        ]
        return self._answer(urlencode(pairs, errors="replace"))

    def results(self, query: str, *, page: int | None = None, **narrowed: Any) -> Iterator[Found]:
        """Yield every document that can be reached, best first; pages are asked for as they are needed.

        What changes in the index meanwhile may shift; no document comes twice.

        Args:
            query: see :meth:`search`.
            page: results asked for at once; ``None`` = 100, or a page as the server has it where 100 are too many for it.
            narrowed: what :meth:`search` takes beside ``num``.

        Raises:
            SearchError: as :meth:`search`, at any page.
        """
        seen: set[str] = set()
        start = narrowed.pop("start", 0)
        num = _MOST if page is None else page
        while start < _WINDOW:
            try:
                answer = self.search(query, num=min(num, _WINDOW - start), start=start, **narrowed)
            except SearchError as error:
                if page is not None or num != _MOST or error.code != "bad-parameter":
                    raise
                answer = self.search(query, start=start, **narrowed)
                num = answer.limit
            for found in answer.results:
                if found.url not in seen:
                    seen.add(found.url)
                    yield found
            start += len(answer.results)
            if not answer.results or start >= answer.total:
                return

    def _answer(self, asked: str) -> Answer:
        headers = {"Accept": "application/json", "User-Agent": "ingather-search", "Connection": "close"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        connection = self._connect()
        try:
            connection.request("GET", f"{self._path}?{asked}", headers=headers)
            answer = connection.getresponse()
            body = answer.read(_ANSWER_BYTES + 1)
            status, wait = answer.status, answer.getheader("Retry-After", "")
            missing = answer.length or 0
        except (OSError, HTTPException, UnicodeError) as error:  # UnicodeError: a host that is no name
            text = str(error) or type(error).__name__
            again = not isinstance(error, ssl.SSLCertVerificationError | UnicodeError)
            raise SearchError(f"the connection to {self} failed: {text}", again=again) from error
        finally:
            connection.close()
        if len(body) > _ANSWER_BYTES:
            raise SearchError(
                f"{self} answered with more than {_ANSWER_BYTES >> 20} MiB",
                status=status,
                hint="ask for less",
            )
        if missing:
            raise SearchError(f"{self} broke off inside its answer", status=status, again=True)
        try:
            form = json.loads(body)
        except (ValueError, RecursionError):
            form = None
        if status != _OK:
            raise self._refusal(status, form, wait)
        try:
            return answer_of(form)
        except ValueError as error:
            raise SearchError(
                f"{self} answered, but not as Ingather does: {error}",
                status=status,
                hint="is this the search listener of an Ingather?",
            ) from error

    def _connect(self) -> HTTPConnection:
        if not self._tls:
            return HTTPConnection(self._host, self._port, timeout=self._timeout_s)
        context = ssl.create_default_context()
        if not self._verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return HTTPSConnection(self._host, self._port, timeout=self._timeout_s, context=context)

    def _refusal(self, status: int, form: Any, wait: str) -> SearchError:
        told = form.get("error") if isinstance(form, dict) else None
        told = told if isinstance(told, dict) else {}
        code, message, hint = (str(told.get(name) or "")[:1000] for name in ("code", "message", "hint"))
        seconds = float(wait) if wait.isascii() and wait.isdigit() and len(wait) <= 9 else None  # noqa: PLR2004
        return SearchError(
            f"{self} answered {status}: {message.rstrip('.') or 'no reason is given'}",
            status=status,
            code=code,
            again=status in _LATER,
            retry_after_s=seconds,
            hint=hint or None,
        )


def _several(values: str | Collection[str]) -> Collection[str]:
    """One text is one value, not its letters."""
    return (values,) if isinstance(values, str) else values
