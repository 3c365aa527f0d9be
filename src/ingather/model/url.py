"""URLs: WHATWG parsing (Ada) and one canonical form, the key of everything.

Two spellings of one page get one canonical URL: default ports, dot segments, fragments,
user names, trailing dots of hosts, the case of escapes, escapes that need not be, characters
that must be escaped, empty queries. What a server may tell apart is kept: the order of the query, the case of
the path, doubled and trailing slashes.

A link that we find loses session and tracking parameters besides (:data:`DEFAULT_DROP`). A URL that somebody names, with a
pushed feed above all, keeps every parameter: it is the key by which its sender will speak of it (:func:`whole_url`).
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

import can_ada
from ingather.errors import UrlError
from ingather.model.urlparts import NO_DOCUMENTS, PUSHED, SCHEMES, shown

__all__ = ["DEFAULT_DROP", "Canonicaliser", "canonical", "fed_url", "spellings", "whole_url", "whole_urls"]

DEFAULT_DROP: Final[tuple[str, ...]] = (
    # sessions
    "jsessionid", "phpsessid", "phpsessionid", "aspsessionid*", "asp.net_sessionid", "sessionid",
    "session_id", "sessid", "oscsid", "zenid", "cfid", "cftoken", "bv_sessionid", "sid~", "session~",
    # campaigns and clicks
    "utm_*", "mtm_*", "piwik_*", "pk_campaign", "pk_kwd", "pk_keyword", "pk_source", "pk_medium", "pk_content",
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "fbclid", "msclkid", "yclid", "twclid",
    "ttclid", "igshid", "li_fat_id", "mc_cid", "mc_eid", "mkt_tok", "srsltid", "vero_id", "_hsenc", "_hsmi",
    "__hssc", "__hstc", "__hsfp", "_ga", "_gl", "_openstat", "wickedid",
)  # fmt: skip
"""Parameters that no page depends on; ``NAME``, ``PREFIX*``, or ``NAME~`` = only when the value looks like a token."""

_UNTAUGHT: Final = frozenset({"ftps", "sftp", "smb"})
"""Schemes that a WHATWG parser leaves nearly as they are written; they are read here by the rules of http."""
_COMPANIES: Final = tuple(f"{scheme}://" for scheme in sorted(_UNTAUGHT))
_MEMO_DIRECTORIES: Final = 64
_MEMO_ENTRIES: Final = 2048
_MEMO_HREF_CHARS: Final = 512
_MOST_WHOLES: Final = 16
"""Spellings of one cut link that a page is remembered to have."""
_C0_AND_SPACE: Final = "".join(map(chr, range(0x21)))

# After Ada everything is ASCII and dot segments are gone. A URL of this form is canonical as it stands.
_CLEAN: Final = re.compile(
    r"(?:https?|ftp)://[a-z0-9_.-]++(?<!\.):?+[0-9]*+(?<!:)/[A-Za-z0-9\-._~/!$&'()*+,:@=]*+\Z"
)
# What neither Ada nor the rules here would change, hung on a canonical directory or origin: no escapes, no dot
# segments but at the beginning, no scheme, no parameters. Three of four links on ordinary pages.
_PLAIN: Final = re.compile(r"(/|\.\./(?:\.\./){0,60}|)(?![./])(?!.*/[./])[A-Za-z0-9\-._~/!$&'()*+,@=]*+\Z")
_WEB: Final = ("http://", "https://", "ftp://")
_MEMO_ORIGINS: Final = 4096
_UNRESERVED: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_DOT_SEGMENT: Final = re.compile(r"/(\.\.?)(?=/|\Z)")
_PATH_WORK: Final = re.compile(r"%([0-9A-Fa-f]{2})?|[^A-Za-z0-9\-._~!$&'()*+,;=:@/]")
_QUERY_WORK: Final = re.compile(r"%([0-9A-Fa-f]{2})?|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?]")
_TOKEN: Final = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9_\-.,]{12,}\Z|[0-9A-Fa-f]{16,}\Z")


def _escape(match: re.Match[str]) -> str:
    digits = match[1]
    if digits:
        code = int(digits, 16)
        return chr(code) if code in _UNRESERVED else f"%{digits.upper()}"
    return f"%{ord(match[0][0]):02X}"


class Canonicaliser:
    """Makes canonical URLs; one instance per set of parameters to drop.

    Not thread-safe: each thread and process has its own (the memo is plain dictionaries).

    Args:
        drop_parameters: query parameters and path parameters (``;name=value``) that do not
            make another page, in the notation of :data:`DEFAULT_DROP`; names without regard to case.
    """

    def __init__(self, drop_parameters: Iterable[str] = DEFAULT_DROP) -> None:
        self.drop_parameters = tuple(drop_parameters)
        """What it was made with, so that another process can make its like."""
        exact, prefixes, tokens = [], [], []
        for name in self.drop_parameters:
            low = name.strip().lower()
            if low.endswith("*"):
                prefixes.append(low[:-1])
            elif low.endswith("~"):
                tokens.append(low[:-1])
            elif low:
                exact.append(low)
        self._exact = frozenset(exact)
        self._tokens = frozenset(tokens)
        self._prefixes = tuple(prefixes)
        self._memos: dict[str, tuple[dict[str, str | None], dict[str, str], dict[str, tuple[str, str]]]] = {}
        self._drops_some = False
        self._dropped = ""
        self.cut: dict[str, list[str]] = {}
        """Links of the page at hand that lost parameters: canonical URL to the absolute ones before, see :meth:`take_cut`."""
        self._origins: set[str] = set()

    def canonical(self, url: str, base: str | None = None) -> str:
        """Return the key form of *url*, resolved against *base* if it is relative.

        Idempotent. Kept schemes: http, https, ftp, file, and ftps, sftp, smb, whose URLs are read by the rules of http
        with a default port of their own (990, 22, 445). A query is kept; the fetchers of files send such a URL to the
        one without it.

        Raises:
            UrlError: not a URL (WHATWG), or of a scheme that we do not gather.
        """
        if base is None and self._stands(url):
            return url
        try:
            parsed = can_ada.parse(url) if base is None else can_ada.parse(base) + url
        except (ValueError, TypeError) as error:
            raise UrlError(f"{shown(url)} is not a URL") from error
        return self._finish(parsed.href)

    def resolver(self, base: str) -> Callable[[str], str | None]:
        """Return a function from a page's ``href`` to its canonical URL.

        The function gives ``None`` for what is no link to another document (empty, fragment
        only) and for what we do not gather (``mailto:``, ``javascript:``, no URL at all). What
        it learns is kept for the directory of *base*, bounded in entries.

        Raises:
            UrlError: *base* itself is not a URL that we gather.
        """
        held: list[can_ada.URL] = []  # the parsed base, when somebody needs it
        if self._stands(base):
            directory = base.rpartition("/")[0]
        else:
            held.append(_parsed(base))
            directory = self._finish(held[0].href).partition("?")[0].rpartition("/")[0]
            self._remember_origin(directory)
        memos = self._memos
        memo = memos.get(directory)
        if memo is None:
            if len(memos) >= _MEMO_DIRECTORIES:
                del memos[next(iter(memos))]
            memo = memos[directory] = {"": None}, _starts(directory), {}
        elif len(memo[0]) > _MEMO_ENTRIES:
            memo[0].clear()
            memo[0][""] = None
        known, starts, cut = memo
        if len(cut) > _MEMO_ENTRIES:
            cut.clear()

        return partial(self._resolve, held, base, known, starts, cut)

    def _resolve(  # noqa: PLR0913, PLR0917 - the memo of a directory
        self,
        held: list[can_ada.URL],
        base: str,
        known: dict[str, str | None],
        starts: Mapping[str, str],
        cut: dict[str, tuple[str, str]],
        href: str,
    ) -> str | None:
        bare = href.partition("#")[0] if "#" in href else href
        if bare in known:
            return known[bare]
        if bare in cut:
            short, whole = cut[bare]
            self._note_cut(short, whole)
            return short
        plain = _PLAIN.match(bare)
        if plain is not None and plain[1] in starts:
            url: str | None = starts[plain[1]] + bare[plain.end(1) :]
        else:
            first = bare.strip(_C0_AND_SPACE)[:1]
            self._dropped = ""
            url = self._joined(held, base, bare) if first else None
            if self._dropped and url is not None:
                self._note_cut(url, self._dropped)
                if first != "?" and len(bare) <= _MEMO_HREF_CHARS:
                    cut[bare] = url, self._dropped
                return url
            if first == "?":  # hangs on the document, not on its directory
                return url
        if len(bare) <= _MEMO_HREF_CHARS:
            known[bare] = url
        return url

    def take_cut(self) -> dict[str, list[str]]:
        """Return what links lost parameters since the last call: canonical URL to the absolute ones before, see :func:`whole_url`."""
        cut, self.cut = self.cut, {}
        return cut

    def _note_cut(self, short: str, whole: str) -> None:
        wholes = self.cut.setdefault(short, [])
        if len(wholes) < _MOST_WHOLES and whole not in wholes:
            wholes.append(whole)

    def _joined(self, held: list[can_ada.URL], base: str, bare: str) -> str | None:
        try:
            if not held:
                held.append(can_ada.parse(base))
            href = (held[0] + bare).href
            self._drops_some = False
            url = self._finish(href)
        except (ValueError, TypeError):
            return None
        if self._drops_some:
            self._dropped = href
        return url

    def _stands(self, url: str) -> bool:
        """Tell cheaply that *url* is canonical; ``False`` means that nobody looked closely."""
        slash = url.find("/", 8)
        if slash < 0 or url[:slash] not in self._origins:
            return False
        plain = _PLAIN.match(url, slash)
        return plain is not None and plain.end(1) > slash

    def _remember_origin(self, directory: str) -> None:
        if directory.startswith(_WEB):
            if len(self._origins) >= _MEMO_ORIGINS:
                self._origins.clear()
            self._origins.add("/".join(directory.split("/", 3)[:3]))

    def _finish(self, href: str) -> str:
        """Turn what Ada wrote into the canonical form."""
        if href.startswith(_COMPANIES):
            return self._untaught(href)
        if "/." in href:
            href = _undotted(href)
        if _CLEAN.match(href):
            return href
        scheme, colon, rest = href.partition("://")
        if not colon or scheme not in SCHEMES:
            raise UrlError(f"{shown(href)} has a scheme that is not gathered")
        rest = rest.partition("#")[0]
        head, question, query = rest.partition("?")
        authority, _, path = head.partition("/")
        authority = authority.rpartition("@")[2]
        path = _PATH_WORK.sub(_escape, path)
        again = False
        if ";" in path:
            shorter = "/".join([self._segment(s) if ";" in s else s for s in path.split("/")])
            again, path = shorter != path, shorter
        if authority.partition(":")[0].endswith("."):
            name, colon, port = authority.partition(":")
            authority, again = f"{name.rstrip('.')}{colon}{port}", True
        if question:
            query = self._query(_QUERY_WORK.sub(_escape, query))
        result = f"{scheme}://{authority}/{path}?{query}" if query else f"{scheme}://{authority}/{path}"
        if again:  # what was cut may have left a dot segment, or a host of another kind
            try:
                return self._finish(can_ada.parse(result).href)
            except (ValueError, TypeError) as error:
                raise UrlError(f"{shown(href)} is not a URL") from error
        return result

    def _untaught(self, href: str) -> str:
        """Turn a URL of a scheme that Ada knows nothing of into the canonical form: with the eyes of http."""
        scheme, _, rest = href.partition("://")
        if rest[:1] in {"", "/", "?", "#", "\\"}:
            raise UrlError(f"{shown(href)} has no host")
        try:
            web, tls = can_ada.parse(f"http://{rest}"), can_ada.parse(f"https://{rest}")
            port = web.port or tls.port  # each leaves out its own default alone
            made = self._finish(web.href)
        except (ValueError, TypeError) as error:
            raise UrlError(f"{shown(href)} is not a URL") from error
        authority, _, path = made.partition("://")[2].partition("/")
        host = authority[: authority.rfind(":")] if web.port else authority
        port_shown = f":{port}" if port and int(port) != SCHEMES[scheme] else ""
        return f"{scheme}://{host}{port_shown}/{path}"

    def _query(self, query: str) -> str:
        return "&".join([part for part in query.split("&") if not self._drops(part)])

    def _segment(self, segment: str) -> str:
        first, *parameters = segment.split(";")
        return ";".join([first, *(p for p in parameters if not self._drops(p))])

    def _drops(self, parameter: str) -> bool:
        name, _, value = parameter.partition("=")
        low = name.lower()
        drops = (
            low in self._exact
            or low.startswith(self._prefixes)
            or (low in self._tokens and _TOKEN.match(value) is not None)
        )
        self._drops_some = self._drops_some or drops
        return drops


def _undotted(href: str) -> str:
    """Resolve the dot segments that Ada 3.0 leaves: in ``/.a/../b`` it looks at the first ``/.`` and at no other.

    Escaped ones it always sees, and it knows best which segments of a file's path may go.
    """
    end = min((at for at in (href.find("?"), href.find("#")) if at >= 0), default=len(href))
    path, dots = _DOT_SEGMENT.subn(lambda found: f"/{found[1].replace('.', '%2e')}", href[:end])
    return can_ada.parse(path + href[end:]).href if dots else href


def _parsed(url: str) -> can_ada.URL:
    try:
        return can_ada.parse(url)
    except (ValueError, TypeError) as error:
        raise UrlError(f"{shown(url)} is not a URL") from error


def _starts(directory: str) -> dict[str, str]:
    """Return what stands before a plain link of each beginning: ``""``, ``../``, ``../../`` ... and ``/``."""
    if not directory.startswith(_WEB):
        return {}
    starts = {"": f"{directory}/"}
    segments = directory.split("/")
    for ups in range(1, len(segments) - 2):
        starts["../" * ups] = "/".join(segments[:-ups]) + "/"
    starts["/"] = "/".join(segments[:3]) + "/"
    return starts


_DEFAULT: Final = Canonicaliser()
_WHOLE: Final = Canonicaliser(())


def canonical(url: str, base: str | None = None) -> str:
    """Return the key form of *url* with the default parameters dropped.

    See :meth:`Canonicaliser.canonical`. Keeps no state: any thread may call it.

    Raises:
        UrlError: not a URL, or of a scheme that we do not gather.
    """
    return _DEFAULT.canonical(url, base)


def whole_url(url: str, base: str | None = None) -> str:
    """Return the key form of *url* with all its parameters: of a URL that somebody names.

    See :meth:`Canonicaliser.canonical`. Keeps no state: any thread may call it.

    Raises:
        UrlError: not a URL, or of a scheme that we do not gather.
    """
    return _WHOLE.canonical(url, base)


def whole_urls(urls: Iterable[str]) -> list[str]:
    """Return the key forms of *urls* with all their parameters; what is no URL is left out."""
    found = []
    for url in urls:
        with contextlib.suppress(UrlError):
            found.append(whole_url(url))
    return found


def spellings(text: str, cut: Callable[[str], str] = canonical) -> tuple[str, ...]:
    """Return the keys that a URL typed by a person may have, best first: with all its parameters, then as *cut* makes it of links.

    Raises:
        UrlError: not the URL of a document.
    """
    whole = fed_url(text)
    short = fed_url(text, cut)
    return (whole,) if short == whole else (whole, short)


def fed_url(url: str, web: Callable[[str], str] = whole_url) -> str:
    """Return the key form of a URL that was pushed: of any scheme (``googleconnector://...``).

    URLs of the schemes that we gather are as *web* says, by default with all their parameters. Of others the scheme and host are put into lower case, the
    fragment is cut off, and what is not ASCII is escaped; all else is the sender's.

    Raises:
        UrlError: it is no absolute URL, or of a scheme that names no documents.
    """
    scheme, colon, rest = url.strip(_C0_AND_SPACE).partition("://")
    scheme = scheme.lower()
    if scheme in _UNTAUGHT:
        with contextlib.suppress(
            UrlError
        ):  # what stands there is the sender's, if it is not as such URLs are
            return web(url)
    elif scheme in SCHEMES or not colon:
        return web(url)
    rest = rest.partition("#")[0]
    cut = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
    authority, path = rest[:cut].lower(), rest[cut:]
    if not PUSHED.match(scheme) or scheme in NO_DOCUMENTS or not (authority or path.strip("/")):
        raise UrlError(f"{shown(url)} is not the URL of a document")
    path = path if path.startswith("/") else f"/{path}"
    return f"{scheme}://{_ascii(authority)}{_ascii(path)}"


def _ascii(text: str) -> str:
    """Escape what is not printable ASCII."""
    return "".join(
        char if "!" <= char <= "~" else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))
        for char in text
    )
