"""What a crawler must find on a synthetic web: the oracle of its tests."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from ingather.testing.web import REDIRECT_STATUS, SyntheticWeb

__all__ = ["Expected", "reachable"]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a crawler should make of a URL that it can reach.

    Attributes:
        url: absolute URL.
        depth: fewest links from a starting point.
        kind: ``page``, ``text``, ``copy``, ``redirect``, ``missing``, ``forbidden`` (by robots.txt: never fetched).
        title: title of a page, ``""`` for other kinds.
        word: the word that only this page and its copies carry.
        indexed: whether it belongs into the index; of a page and its copies any one does.
        group: URL of the page that it is a copy of, its own for others.
    """

    url: str
    depth: int
    kind: str
    title: str = ""
    word: str = ""
    indexed: bool = False
    group: str = ""


def reachable(
    web: SyntheticWeb,
    *,
    starts: tuple[str, ...] | None = None,
    listed: tuple[str, ...] = (),
    sites: frozenset[int] | None = None,
    max_depth: int | None = None,
) -> dict[str, Expected]:
    """Return every URL that a crawler meets, with its depth, in the web's present generation.

    Redirects cost no depth. URLs that robots.txt forbids are met but not fetched; pages that say
    nofollow lead nowhere.

    Args:
        web: the web.
        starts: starting points; default the start page of every site in *sites*.
        listed: what sitemaps list: depth 1.
        sites: sites that the crawler may enter; default all.
        max_depth: deepest URLs that are met; ``None`` = no limit.
    """
    allowed = sites if sites is not None else frozenset(range(len(web.origins)))
    homes = {origin: n for n, origin in enumerate(web.origins)}
    found: dict[str, Expected] = {}
    queue = deque((url, 0) for url in starts or tuple(web.url(n, 0) for n in sorted(allowed)))
    queue.extend((url, 1) for url in listed)
    while queue:
        url, depth = queue.popleft()
        origin, path = _split(url)
        site = homes.get(origin)
        if url in found or site not in allowed or (max_depth is not None and depth > max_depth):
            continue
        met = found[url] = _judge(web, site, path, depth)
        if met.kind == "redirect":
            queue.appendleft((origin + dict(web.answer(site, path).headers)["Location"], depth))
        else:
            queue.extend((target, depth + 1) for target in _onward(web, site, path, met))
    return found


def _judge(web: SyntheticWeb, site: int, path: str, depth: int) -> Expected:
    url = web.origins[site] + path
    if path.startswith("/private/"):
        return Expected(url, depth, "forbidden", group=url)
    status = web.answer(site, path).status
    if status in REDIRECT_STATUS:
        return Expected(url, depth, "redirect", group=url)
    number = web.number_of(site, path)
    if status != 200 or number is None:  # noqa: PLR2004 - RFC 9110 section 15.3.1
        return Expected(url, depth, "missing", group=url)
    traits = web.traits(site, number)
    kind = "copy" if path.startswith("/copy/") else "text" if traits.plain else "page"
    return Expected(
        url,
        depth,
        kind,
        title="" if traits.plain else web.title(site, number),
        word=web.word(site, number),
        indexed=traits.plain or not traits.noindex,
        group=web.url(site, number),
    )


def _onward(web: SyntheticWeb, site: int, path: str, met: Expected) -> Iterator[str]:
    number = web.number_of(site, path)
    if met.kind not in {"page", "copy"} or number is None:
        return
    traits = web.traits(site, number)
    if traits.plain or traits.nofollow:
        return
    for href in web.links(site, number):
        bare = href.partition("#")[0].removeprefix("..")
        yield bare if bare.startswith("http") else web.origins[site] + bare


def _split(url: str) -> tuple[str, str]:
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host}", f"{slash or '/'}{path}"
