"""What else is at a site: sitemaps with how much they list, feeds that its page names, and how one logs in."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec

from ingather.app.siteprobe.asking import Asking
from ingather.app.siteprobe.finding import Finding
from ingather.app.siteprobe.forms import LoginForm, login_forms, schemes_of
from ingather.app.syndication.checking import Fetched, check_document
from ingather.errors import UrlError, WebFeedError
from ingather.fetch import REDIRECTS
from ingather.model.resource import Failure, Response
from ingather.model.scope import Scope
from ingather.model.url import canonical
from ingather.model.urlparts import split

__all__ = ["find_feeds_of", "find_login", "find_sitemaps", "judge_feeds", "judge_login", "judge_sitemaps"]

_MOST_SITEMAPS: Final = 5
_MOST_CHILDREN: Final = 3
_MOST_FEEDS: Final = 20
_READ_S: Final = 15.0
_OK: Final = 200
_UNAUTHORIZED: Final = 401
_USUAL_PLACE: Final = "usual place"
_SITEMAPS: Final = frozenset({"sitemap", "sitemap-index"})
_FEEDS: Final = frozenset({"rss", "rdf", "atom", "json"})


async def find_sitemaps(
    asking: Asking, base: str, named: Sequence[str], scope: Scope
) -> list[dict[str, Any]]:
    """Return the sitemaps of the site at *base*: those that its robots.txt names, else ``/sitemap.xml``.

    Each is ``url``, ``from`` (``robots.txt``, ``usual place``), ``kind`` (``sitemap``, ``sitemap-index``, a feed's, or ``""``), ``entries``,
    ``status``, ``error``. Of an index the first three sitemaps are read, too: ``from`` is the index then, and ``sitemaps`` how many it has.
    """
    wanted: list[tuple[str, str]] = []
    for text in named[:_MOST_SITEMAPS]:
        with suppress(UrlError):
            wanted.append((canonical(text, base), "robots.txt"))
    usual = canonical("/sitemap.xml", base)
    if all(url != usual for url, _ in wanted):
        wanted.append((usual, _USUAL_PLACE))
    found: list[dict[str, Any]] = []
    for url, origin in wanted:
        one, children = await _sitemap(asking, url, origin, base, scope)
        found.append(one)
        found += [(await _sitemap(asking, child, url, base, scope))[0] for child in children[:_MOST_CHILDREN]]
    return found


async def _sitemap(
    asking: Asking, url: str, origin: str, base: str, scope: Scope
) -> tuple[dict[str, Any], list[str]]:
    told: dict[str, Any] = {"url": url, "from": origin, "kind": "", "entries": 0, "status": 0, "error": ""}
    got = await _had(asking, url, base, scope)
    if isinstance(got, str):
        return {**told, "error": got}, []
    told["status"] = got.status
    if got.status != _OK:
        where = f"redirected to {got.header('location')[:200]}" if got.status in REDIRECTS else ""
        return {**told, "error": where or f"answers {got.status}"}, []
    try:
        read = await asyncio.to_thread(check_document, _fetched(got), timeout_s=_READ_S)
    except WebFeedError as error:
        return {**told, "error": str(error)}, []
    items, kind = read.get("items", ()), read["kind"]
    if kind not in _SITEMAPS | _FEEDS:
        said = "it is a page, no sitemap" if kind == "html" else read["error"] or "it is no sitemap"
        return {**told, "error": said}, []
    told |= {
        "kind": kind,
        "entries": len(items),
        "error": "longer than we read" if got.cut else read["error"],
    }
    if kind != "sitemap-index":
        return told, []
    told["sitemaps"], told["entries"] = len(items), 0
    return told, [str(item["link"]) for item in items]


async def _had(asking: Asking, url: str, base: str, scope: Scope) -> Response | str:
    """Return the answer to a request for *url*, or why there is none."""
    if split(url).host != split(base).host:
        return "on another host: not asked"
    if not await asking.may(url, scope):
        return "robots.txt forbids to ask for it"
    got = await asking.get(url, scope)
    return f"{got.kind}: {got.detail}".rstrip(": ") if isinstance(got, Failure) else got


async def find_feeds_of(page: Response) -> list[str]:
    """Return the feeds that a page names, at most twenty; the page is one itself: its own URL."""
    try:
        read = await asyncio.to_thread(check_document, _fetched(page), timeout_s=_READ_S)
    except WebFeedError:
        return []
    if read["kind"] in _FEEDS:
        return [page.url]
    return [str(feed) for feed in read.get("feeds", ())[:_MOST_FEEDS]]


def find_login(answers: Sequence[Response]) -> dict[str, Any]:
    """Return how one logs in, as *answers* say: ``schemes`` (``scheme``, ``realm``) of a 401 and where, ``forms`` with a password."""
    schemes: list[dict[str, str]] = []
    forms: list[LoginForm] = []
    for got in answers:
        if got.status == _UNAUTHORIZED:
            schemes += [
                {"url": got.url, "scheme": scheme, "realm": realm}
                for scheme, realm in schemes_of(got.header("www-authenticate"))
            ]
        elif "html" in got.header("content-type", "text/html").lower():
            forms += [form for form in login_forms(got.body, got.url) if form not in forms]
    return {"schemes": schemes, "forms": [msgspec.to_builtins(form) for form in forms]}


def judge_sitemaps(found: Sequence[dict[str, Any]]) -> Iterator[Finding]:
    """Yield what there is to say of sitemaps."""
    for one in found:
        if one["kind"] == "sitemap-index":
            yield Finding("sitemaps", "ok", f"{one['url']} lists {one['sitemaps']} sitemaps ({one['from']})")
        elif one["kind"]:
            yield Finding(
                "sitemaps", "ok", f"{one['url']} lists {one['entries']} URLs ({one['from']})",
                f'no robots.txt names it; to follow it: sitemaps = ["{one["url"]}"] in its [source.NAME]' if one["from"] == _USUAL_PLACE else "",
            )  # fmt: skip
        elif one["from"] == "robots.txt":
            yield Finding(
                "sitemaps",
                "warning",
                f"robots.txt names {one['url']}, but: {one['error']}",
                "tell who runs the host",
            )


def judge_feeds(feeds: Sequence[str]) -> Iterator[Finding]:
    """Yield what there is to say of feeds."""
    for feed in feeds:
        yield Finding(
            "feeds", "note", f"the page names the feed {feed}", f"to follow it: ingather rss add {feed}"
        )


def judge_login(login: dict[str, Any]) -> Iterator[Finding]:
    """Yield what there is to say of logins."""
    for one in login["schemes"]:
        realm = f" (realm {one['realm']!r})" if one["realm"] else ""
        yield Finding(
            "login", "warning", f"{one['url']} wants {one['scheme']}{realm}",
            "give its source credentials for this beginning of URLs: see docs/how-to/crawl-with-a-password.md",
        )  # fmt: skip
    for form in login["forms"]:
        user = f"user {form['user']!r}, " if form["user"] else ""
        yield Finding(
            "login", "note", f"a form asks for a password: {form['method']} to {form['action']} ({user}password {form['password']!r})",
            "what stands behind it is seen with credentials of kind form alone",
        )  # fmt: skip


def _fetched(got: Response) -> Fetched:
    return Fetched(got.body, got.url, got.header("content-type"))
