"""OPML: lists of feeds as other readers write and read them (OPML 2.0, ``type="rss"``)."""

from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import quoteattr

from lxml import etree

from ingather.syndication.dates import tidy
from ingather.syndication.encodings import decode_listing
from ingather.syndication.links import absolute
from ingather.syndication.mending import mended
from ingather.syndication.names import attribute, local_name

__all__ = ["MOST_BYTES", "Opml", "Subscription", "read_opml", "write_opml"]

MOST_BYTES: Final = 10 << 20
_REMARKS: Final = 50
_KEPT: Final = str.maketrans(dict.fromkeys((*range(32), 65534, 65535, *range(55296, 57344)), " "))


@dataclass(frozen=True, slots=True)
class Subscription:
    """One feed: its URL, its title, the web page that it belongs to (``""`` = untold), the folders around it, outer first."""

    url: str
    title: str = ""
    page: str = ""
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Opml:
    """What an OPML file lists: each feed once, in its order; *error* is why it is no OPML, ``""`` if it is.

    *duplicates*: further mentions of feeds that were listed before.
    """

    title: str = ""
    subscriptions: tuple[Subscription, ...] = ()
    remarks: tuple[str, ...] = ()
    error: str = ""
    duplicates: tuple[Subscription, ...] = ()


def read_opml(body: bytes) -> Opml:
    """Read an OPML file; never raises for what is in it. Bare ampersands in URLs are mended, with a remark."""
    if len(body) > MOST_BYTES:
        return Opml(error=f"larger than {MOST_BYTES} bytes")
    text, broken = decode_listing(body, None)
    text = text.lstrip("\ufeff \t\r\n")
    if "<!DOCTYPE" in text:
        return Opml(error="refused: has a document type")
    remarks = [broken] if broken else []
    try:
        root = _parse(text)
    except etree.XMLSyntaxError as error:
        remarks.append(f"not well-formed: {error.msg}")
        try:
            root = _parse(mended(text))
        except etree.XMLSyntaxError:
            return Opml(error=f"not well-formed: {error.msg}")
    if local_name(root.tag) != "opml":
        return Opml(error=f"the root element <{local_name(root.tag)[:40]}> is not OPML's")
    found, twice = _subscriptions(root, remarks)
    title = next((tidy(element.text) for element in root.iter("{*}title", "title")), "")
    return Opml(title[:1000], tuple(found), tuple(remarks), duplicates=tuple(twice))


def _subscriptions(root: etree._Element, remarks: list[str]) -> tuple[list[Subscription], list[Subscription]]:
    """Return each feed once, and what mentions one again."""
    found: dict[str, Subscription] = {}
    twice: list[Subscription] = []
    for outline in root.iter("{*}outline", "outline", "OUTLINE"):
        address = attribute(outline, "xmlUrl")
        if address is None:
            continue
        url = absolute(address)
        if not url:
            if len(remarks) < _REMARKS:
                remarks.append(f"line {outline.sourceline}: no http(s) URL: {tidy(address)[:200]}")
            continue
        feed = Subscription(url, _name(outline), absolute(attribute(outline, "htmlUrl")), _folders(outline))
        if found.setdefault(url, feed) is not feed:
            twice.append(feed)
    return list(found.values()), twice


def _parse(text: str) -> etree._Element:
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )  # fmt: skip
    return etree.fromstring(text.encode("utf-8", "replace"), parser)


def _name(outline: etree._Element) -> str:
    return tidy(attribute(outline, "title") or attribute(outline, "text"))[:1000]


def _folders(outline: etree._Element) -> tuple[str, ...]:
    around = [_name(above) for above in outline.iterancestors() if local_name(above.tag) == "outline"]
    return tuple(name for name in reversed(around) if name)


def write_opml(title: str, subscriptions: tuple[Subscription, ...]) -> bytes:
    """Return an OPML 2.0 file in UTF-8 that :func:`read_opml` reads back; neighbours in one folder share its outline."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<opml version="2.0">', f"  <head><title>{_text(title)}</title></head>", "  <body>"]  # fmt: skip
    open_folders: tuple[str, ...] = ()
    for feed in subscriptions:
        shared = 0
        while (
            shared < min(len(open_folders), len(feed.folders))
            and open_folders[shared] == feed.folders[shared]
        ):
            shared += 1
        lines += ["  " * (depth + 2) + "</outline>" for depth in range(len(open_folders) - 1, shared - 1, -1)]
        lines += [
            "  " * (depth + 2) + f"<outline text={_quoted(feed.folders[depth])}>"
            for depth in range(shared, len(feed.folders))
        ]
        open_folders = feed.folders
        name = _quoted(feed.title or feed.url)
        page = f" htmlUrl={_quoted(feed.page)}" if feed.page else ""
        lines.append(
            "  " * (len(feed.folders) + 2)
            + f'<outline type="rss" text={name} title={name} xmlUrl={_quoted(feed.url)}{page}/>'
        )
    lines += ["  " * (depth + 2) + "</outline>" for depth in range(len(open_folders) - 1, -1, -1)]
    lines += ["  </body>", "</opml>", ""]
    return "\n".join(lines).encode()


def _quoted(text: str) -> str:
    return quoteattr(text.translate(_KEPT))


def _text(text: str) -> str:
    return text.translate(_KEPT).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
