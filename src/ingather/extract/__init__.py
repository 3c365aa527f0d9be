"""Reading documents: bytes and headers in, a page out.

The journey of a body: ``sniffing`` says what it is (the header, unless it cannot be right), ``hostile``
counts in advance whether its HTML would stall a parser, ``charset`` decides what the bytes mean
(``labels`` knows the encodings of the web, ``guessing`` is the last resort), ``html`` walks the tree
once and takes everything (``walking`` in Python, ``compiled`` in C where that was built), and ``page`` makes of that a :class:`~ingather.model.page.Page`: links in
key form, robots rules united (``directives``), a language (``language``), a date (``dates``).
``sitemap`` reads lists of URLs.
``conversion`` reads documents that are not HTML (PDF, Office, mail, books, archives), one format a file in
``documents``. ``simhash`` tells by 64 bits which texts are nearly alike (``walk/`` has it in C).
``allocator`` is one line of memory tuning for processes that read pages.

Nothing here fetches, stores or judges. What is heavy or hostile is read in a converter process; who
decides that is the caller. Names below are imported when first used.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ingather.extract.allocator import tune_allocator
    from ingather.extract.charset import Decoded, decode
    from ingather.extract.conversion import ConversionLimits, convert
    from ingather.extract.documents.wire import decode_converted, decode_page
    from ingather.extract.hostile import suspect_reason
    from ingather.extract.page import Limits, is_html, read_converted, read_page
    from ingather.extract.sitemap import Sitemap, SitemapEntry, read_sitemap
    from ingather.extract.sniffing import sniff
    from ingather.model.page import Converted, Link, Page

__all__ = [
    "ConversionLimits",
    "Converted",
    "Decoded",
    "Limits",
    "Link",
    "Page",
    "Sitemap",
    "SitemapEntry",
    "convert",
    "decode",
    "decode_converted",
    "decode_page",
    "is_html",
    "read_converted",
    "read_page",
    "read_sitemap",
    "sniff",
    "suspect_reason",
    "tune_allocator",
]

_HOMES: Final = {
    "ConversionLimits": "conversion",
    "Converted": "page",
    "Decoded": "charset",
    "Limits": "page",
    "Link": "page",
    "Page": "page",
    "Sitemap": "sitemap",
    "SitemapEntry": "sitemap",
    "convert": "conversion",
    "decode": "charset",
    "decode_converted": "documents.wire",
    "decode_page": "documents.wire",
    "is_html": "page",
    "read_converted": "page",
    "read_page": "page",
    "read_sitemap": "sitemap",
    "sniff": "sniffing",
    "suspect_reason": "hostile",
    "tune_allocator": "allocator",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
