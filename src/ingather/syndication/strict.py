"""The strict tier: well-formed XML alone, without entities, DTD or network, bounded in depth.

Never libxml2's recovery: it makes ``?x=1=2`` of an unescaped ``?x=1&y=2``, and a shorter link of a cut one.
"""

import re
from typing import Final

from lxml import etree

from ingather.syndication.atom import read_atom
from ingather.syndication.bases import Bases
from ingather.syndication.collecting import Collector
from ingather.syndication.listing import ListingLimits
from ingather.syndication.names import attribute, local_name, namespace_of
from ingather.syndication.rss import read_rss
from ingather.syndication.verbatim import markup

__all__ = ["NotWellFormedError", "RefusedError", "read_xml"]

# Told only where a DTD lies, which nobody fetches; libxml2 makes an error of one on the network.
_PLAIN_DOCTYPE: Final = re.compile(r"<!DOCTYPE[^\[<>]{0,1000}>")
_NAMED: Final = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9A-Fa-f]+);)[A-Za-z_]")
_TOO_DEEP: Final = etree.ErrorTypes.ERR_RESOURCE_LIMIT
_RSS_11: Final = "http://purl.org/net/rss1.1"
_RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns"


class NotWellFormedError(Exception):
    """The document is not well-formed; the message says where."""


class RefusedError(Exception):
    """The document is no feed, or not one that is read; the message says why."""


def read_xml(text: str, *, url: str, limits: ListingLimits) -> Collector:
    """Read a feed in XML.

    Args:
        text: without byte order mark; an encoding that it declares is not looked at.
        url: where it came from.
        limits: of items and lengths.

    Raises:
        NotWellFormedError: the strict tier ends here.
        RefusedError: not a feed, or nested too deep.
        TooManyItemsError: more items than one document may list.
    """
    doctype = text.find("<!DOCTYPE")
    if doctype >= 0:
        if _NAMED.search(markup(text)):
            # With an external DTD lxml would drop the reference without a word, and a link would lose a letter.
            raise NotWellFormedError("refers to entities that it does not declare")
        plain = _PLAIN_DOCTYPE.match(text, doctype)
        if plain and not markup(text[:doctype]).strip():
            text = text[plain.end() :]
    parser = etree.XMLParser(
        encoding="utf-8",
        recover=False,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        if error.code == _TOO_DEEP:
            raise RefusedError(f"refused: {error.msg}") from None
        raise NotWellFormedError(str(error.msg)) from None
    return _read(root, url, limits, based=":base" in text)


def _rss_11(root: etree._Element) -> bool:
    return any(namespace_of(str(element.tag)).startswith(_RSS_11) for element in (root, *root[:1]))


def _read(root: etree._Element, url: str, limits: ListingLimits, *, based: bool) -> Collector:
    name = local_name(root.tag)
    bases = Bases(url, used=based)
    version = (attribute(root, "version") or "").strip()
    if name in {"rss", "rdf", "channel"}:
        space = namespace_of(str(root.tag))
        kind = "rdf" if name == "rdf" or space.startswith((_RDF, _RSS_11)) else "rss"
        version = version or ("1.1" if _rss_11(root) else "")
        to = Collector(url, limits, kind, version)
        read_rss(root, to, bases)
        return to
    if name in {"feed", "entry"}:
        to = Collector(url, limits, "atom", version or ("0.3" if "purl.org/atom" in str(root.tag) else "1.0"))
        read_atom(root, to, bases)
        return to
    if name in {"urlset", "sitemapindex"}:
        raise RefusedError("a sitemap, not a feed")
    raise RefusedError(
        "an HTML page, not a feed" if name == "html" else f"the root element <{name[:40]}> is no feed's"
    )
