"""A synthetic web: sites, pages, links, robots rules and their changes, all derived from a seed.

Nothing is stored: an answer is a function of (seed, site, path, generation), so a web of a
million pages costs no memory and is the same tomorrow. What a crawler must find is derived from
the same functions (:func:`ingather.testing.reach.reachable`), which makes the web its own oracle.

Each site is a tree of pages (each links to its children, so every page can be reached, the
last ``depth`` links from the start page) with extra links across. On the way lie the things
that a real web has: relative links, ``../``, fragments, redirects, dead links, pages that robots.txt or a META tag
forbids, exact copies under other URLs, plain text, links to other sites. Every page carries a
word of its own (:meth:`SyntheticWeb.word`), found nowhere else, and a title with it.

``python -m ingather.testing.web --port 0 --seed 7 --sites 5`` serves one on loopback.
"""

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from email.utils import formatdate
from functools import lru_cache

from ingather.testing.prose import paragraph, topic
from ingather.testing.webshape import Traits, WebShape

__all__ = ["Answer", "SyntheticWeb"]

_MASK = (1 << 64) - 1
_DAY_S = 86_400
_EPOCH_S = 1_780_000_000
_SECTIONS = 7
_SITEMAP_URLS = 50_000
REDIRECT_STATUS = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a site answers: status, headers in order, body."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class SyntheticWeb:
    """A web; immutable but for :attr:`generation`, may be used by many threads.

    *origins* are the sites' addresses (``http://127.0.0.2:8080``), one a site; the server fills them in.
    """

    def __init__(
        self, seed: int, shape: WebShape | None = None, *, origins: tuple[str, ...] | None = None
    ) -> None:
        self.seed = seed
        self.shape = shape or WebShape()
        self.origins = origins or tuple(f"http://site{n}.test" for n in range(self.shape.sites))
        self.generation = 0
        # Bounded, and only for speed: everything follows from the seed.
        self._traits = lru_cache(1 << 16)(self._draw_traits)
        self.path = lru_cache(1 << 16)(self._draw_path)
        self.title = lru_cache(1 << 16)(self._draw_title)
        self._topic = lru_cache(1 << 16)(self._draw_topic)
        self._prose = [paragraph(self._hash(n, 1), 60) for n in range(64)]
        self._offsets = self._levels()

    def at(self, origins: tuple[str, ...]) -> "SyntheticWeb":
        """Return the same web at other addresses."""
        web = SyntheticWeb(self.seed, self.shape, origins=origins)
        web.generation = self.generation
        return web

    def reshaped(self, **changes: float) -> "SyntheticWeb":
        """Return a web of the same seed in another shape, at the same addresses as far as they go."""
        shape = replace(self.shape, **changes)  # type: ignore[arg-type]
        origins = self.origins[: shape.sites] if shape.sites <= len(self.origins) else None
        return SyntheticWeb(self.seed, shape, origins=origins)

    # --- what is where ------------------------------------------------------------------------

    def count(self, generation: int | None = None) -> int:
        """Return how many pages a site has had up to a generation (default: the present one)."""
        g = self.generation if generation is None else generation
        return int(self.shape.pages * (1.0 + self.shape.growth * g))

    def _draw_path(self, site: int, number: int) -> str:
        if number == 0:
            return "/"
        traits = self._traits(site, number)
        if traits.forbidden:
            return f"/private/p{number}.html"
        return f"/s{number % _SECTIONS}/p{number}.{'txt' if traits.plain else 'html'}"

    def url(self, site: int, number: int) -> str:
        """Return the URL of a page."""
        return self.origins[site] + self.path(site, number)

    def word(self, site: int, number: int) -> str:
        """Return the word that only this page carries: letters and digits, lower case."""
        return f"w{site}x{number}z{self._hash(site, number, 2) & 0xFFFF:04x}"

    def _draw_title(self, site: int, number: int) -> str:
        return f"{self._topic(site, number)} {self.word(site, number)}"

    def _draw_topic(self, site: int, number: int) -> str:
        return topic(self._hash(site, number, 3))

    def traits(self, site: int, number: int) -> Traits:
        """Return what is special about a page."""
        return self._traits(site, number)

    def _draw_traits(self, site: int, number: int) -> Traits:
        if number == 0:
            return Traits(foreign=self.shape.foreign > 0)
        shape = self.shape
        one, two = self._hash(site, number, 11), self._hash(site, number, 12)
        shares = (
            (shape.foreign, shape.redirected, shape.dead, shape.forbidden, shape.noindex),
            (shape.nofollow, shape.copies, shape.plain, shape.decay),
        )
        return Traits(
            *(
                (dice >> 12 * n & 0xFFF) < share * 0x1000
                for dice, group in zip((one, two), shares, strict=True)
                for n, share in enumerate(group)
            )
        )

    def version(self, site: int, number: int, generation: int | None = None) -> int:
        """Return how often a page has changed up to a generation."""
        g = self.generation if generation is None else generation
        share = self.shape.change
        return sum(1 for past in range(1, g + 1) if self._unit(site, number, past, 4) < share)

    def is_gone(self, site: int, number: int, generation: int | None = None) -> bool:
        """Return whether a page has gone by a generation, or has not yet come."""
        g = self.generation if generation is None else generation
        if number >= self.count(g):
            return True
        return self._traits(site, number).decays and g >= 1 + self._hash(site, number, 5) % 4

    # --- links --------------------------------------------------------------------------------

    def links(self, site: int, number: int) -> list[str]:
        """Return the links of a page as they stand in its source, in order."""
        return [href for href, _ in self._links(site, number)]

    def _links(self, site: int, number: int) -> Iterator[tuple[str, str]]:
        shape, count, traits = self.shape, self.count(), self._traits(site, number)
        # Labels say a page's topic, never its word: that is found on the page alone.
        for child in self._children(number, count):
            yield self._href(site, child, number), self._topic(site, child)
            if self._traits(site, child).copied:
                yield f"/copy/{child}.html", "copy"
        # Extra links lead at most one level down, so that they make no path shorter than the tree's.
        near = min(self._reach(number), count)
        for n in range(shape.degree):
            h = self._hash(site, number, 16 + n)
            far = (h >> 40) / 0xFF_FFFF < shape.shortcuts
            target = h % (count if far else near)
            yield self._plain_href(site, target, h >> 20), self._topic(site, target)
        if len(self.origins) > 1 and traits.foreign:
            h = self._hash(site, number, 6)
            other = (site + 1 + h % (len(self.origins) - 1)) % len(self.origins)
            yield self.url(other, (h >> 8) % count if h & 1 else 0), "elsewhere"
        if traits.dead:
            yield f"/dead/{number}.html", "a dead link"

    def _href(self, site: int, target: int, source: int) -> str:
        # A tree link: the only one that may go through a redirect.
        if self._traits(site, target).redirected:
            return f"/go/{target}"
        return self._plain_href(site, target, self._hash(site, target, source))

    def _plain_href(self, site: int, target: int, dice: int) -> str:
        path = self.path(site, target)
        match dice % 10:
            case 0:
                return self.origins[site] + path
            case 1:
                return f"{path}#part-{dice % 5}"
            case 2 | 3 if target:
                return f"..{path}"
            case _:
                return path

    def _children(self, number: int, count: int) -> Iterator[int]:
        pages, offsets = self.shape.pages, self._offsets
        if number < pages:
            level = bisect(offsets, number) - 1
            first, below = offsets[level], offsets[level + 1]
            if below < pages:
                # The pages of the level below are dealt out evenly.
                size, more, place = below - first, offsets[level + 2] - below, number - first
                yield from range(below + -(-place * more // size), below + -(-(place + 1) * more // size))
            # Pages that came later hang below those of the first generation, in turn.
            yield from range(pages + number, count, pages)

    def _reach(self, number: int) -> int:
        # One past the last page of the level below that of *number*.
        level = bisect(self._offsets, number % self.shape.pages) - 1
        return self._offsets[min(level + 2, len(self._offsets) - 1)]

    def _levels(self) -> list[int]:
        # Where each level starts, and at last the number of pages: sizes grow by a constant factor that
        # is chosen so that the last level is as deep as it was asked for.
        pages = max(self.shape.pages, 1)
        depth = min(max(self.shape.depth, 1), pages - 1)
        low, high = 1.0, float(pages)
        for _ in range(60):
            factor = (low + high) / 2
            low, high = (factor, high) if sum(factor**k for k in range(depth + 1)) < pages else (low, factor)
        offsets = [0]
        for level in range(depth):
            offsets.append(min(offsets[-1] + max(round(low**level), 1), pages - depth + level))
        return [*offsets, pages]

    # --- answers ------------------------------------------------------------------------------

    def answer(self, site: int, path: str) -> Answer:
        """Return what *site* answers to a GET of *path*; anything unknown is 404."""
        bare = path.partition("?")[0]
        folder, _, name = bare[1:].partition("/")
        match folder:
            case "robots.txt":
                return self._robots(site)
            case "sitemap.xml":
                return self._sitemap(site)
            case "go":
                return self._redirect(site, name)
            case _:
                number = self.number_of(site, bare)
                return _missing(404) if number is None else self._page(site, number)

    def number_of(self, site: int, path: str) -> int | None:
        """Return the number of the page at *path*, or of which it is a copy; ``None`` if there is none."""
        if path == "/":
            return 0
        folder, _, name = path[1:].partition("/")
        number = _number(name.removesuffix(".html") if folder == "copy" else name[1:].rpartition(".")[0])
        if number is None or number >= self.count():
            return None
        fits = self._traits(site, number).copied if folder == "copy" else self.path(site, number) == path
        return number if fits else None

    def _page(self, site: int, number: int) -> Answer:
        if self.is_gone(site, number):
            return _missing(410 if self._hash(site, number, 7) & 1 else 404)
        version = self.version(site, number)
        traits = self._traits(site, number)
        plain = traits.plain
        text = self.text(site, number)
        if plain:
            body = text
        else:
            links = "\n".join(
                f'<li><a href="{href}">{label}</a></li>' for href, label in self._links(site, number)
            )
            rules = [name for name in ("noindex", "nofollow") if getattr(traits, name)]
            meta = f'<meta name="robots" content="{", ".join(rules)}">\n' if rules else ""
            title = self.title(site, number)
            paragraphs = text.replace("\n\n", "</p>\n<p>")
            body = (
                f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n<title>{title}</title>\n{meta}'
                f'<meta name="description" content="About {title}">\n</head><body>\n<h1>{title}</h1>\n'
                f"<p>{paragraphs}</p>\n<ul>\n{links}\n</ul>\n</body></html>\n"
            )
        stamp = _EPOCH_S + (self._hash(site, number, 8) % 300 + version) * _DAY_S
        return Answer(
            200,
            (
                ("Content-Type", "text/plain; charset=utf-8" if plain else "text/html; charset=utf-8"),
                (
                    "ETag",
                    f'"{self.seed:x}-{site}-{number}-{version}-{self.generation if self.shape.growth else 0}"',
                ),
                ("Last-Modified", formatdate(stamp, usegmt=True)),
            ),
            body.encode(),
        )

    def text(self, site: int, number: int) -> str:
        """Return a page's text in its present version, paragraphs separated by an empty line."""
        dice, prose = self._hash(site, number, 9), self._prose
        parts = [prose[(dice >> 6 * (n % 10)) % 64] for n in range(self.shape.paragraphs)]
        version = self.version(site, number)
        parts.append(f"This page is about {self.word(site, number)}, edition {version}.")
        return "\n\n".join(parts)

    def _redirect(self, site: int, name: str) -> Answer:
        number = _number(name)
        if number is None or number >= self.count():
            return _missing(404)
        status = REDIRECT_STATUS[self._hash(site, number, 10) % len(REDIRECT_STATUS)]
        return Answer(
            status, (("Location", self.path(site, number)), ("Content-Type", "text/html")), b"moved"
        )

    def _robots(self, site: int) -> Answer:
        lines = ["User-agent: *", "Disallow: /private/"]
        if self.shape.crawl_delay_s:
            lines.append(f"Crawl-delay: {self.shape.crawl_delay_s:g}")
        lines += ["", f"Sitemap: {self.origins[site]}/sitemap.xml", ""] if self.shape.sitemaps else [""]
        return Answer(200, (("Content-Type", "text/plain"),), "\n".join(lines).encode())

    def _sitemap(self, site: int) -> Answer:
        pages = (n for n in range(min(self.count(), _SITEMAP_URLS)) if not self.is_gone(site, n))
        urls = "".join(f"<url><loc>{self.url(site, n)}</loc></url>\n" for n in pages)
        body = (
            '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
            f"{urls}</urlset>\n"
        )
        return Answer(200, (("Content-Type", "application/xml"),), body.encode())

    # --- dice ---------------------------------------------------------------------------------

    def _hash(self, *numbers: int) -> int:
        x = self.seed * 0x9E3779B97F4A7C15 & _MASK
        for n in numbers:
            x = (x ^ (n + 0x632BE59BD9B4E019)) * 0xBF58476D1CE4E5B9 & _MASK
            x = (x ^ x >> 31) * 0x94D049BB133111EB & _MASK
        return x ^ x >> 29

    def _unit(self, *numbers: int) -> float:
        return (self._hash(*numbers) >> 11) / (1 << 53)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None  # noqa: PLR2004


def _missing(status: int) -> Answer:
    body = f"<html><head><title>{status}</title></head><body>There is nothing here.</body></html>"
    return Answer(status, (("Content-Type", "text/html"),), body.encode())


if __name__ == "__main__":
    from ingather.testing.server import main

    raise SystemExit(main())
