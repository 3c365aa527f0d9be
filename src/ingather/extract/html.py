"""HTML as a gatherer reads it: one walk over Lexbor's tree finds everything, in document order.

There are two walks that find the same: ``walking`` in Python, which defines what is found, and
``compiled`` in C, which is used when it was built and a page with everything on it reads alike in both.
Nothing here resolves a URL, obeys a rule or knows a header: ``page`` does.
"""

import os
import re
from functools import lru_cache
from typing import Final

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from ingather.extract import compiled
from ingather.extract.markup import Anchor, Document, Relation, fold
from ingather.extract.walking import walk_in_python

__all__ = ["Anchor", "Document", "Relation", "fold", "read_html", "walk_in_use"]

_NO_EVENTS: Final = int(LexborDocumentOptions.WO_EVENTS)

_OFF: Final = b"<!--googleoff:"  # a plain search: a few microseconds a page
_GOOGLEOFF: Final = re.compile(rb"<!--googleo(ff|n):[ \t]*(?:index|all)[ \t]*-->")
_MARKS: Final = {b"ff": b"<!--stopindex-->", b"n": b"<!--startindex-->"}

_EVERYTHING: Final = """<!doctype html><html lang=de hidden><head><title> A <i>title</i> </title><base href=/b/><base href=/c/>
<meta name=Author content=A><meta property=og:x content=O><meta http-equiv=Refresh content="1;r"><meta itemprop=i content>
<link rel="Next  Alternate" href=n title=" N \n N"><link rel=stylesheet href=s><link rel=canonical href=c type="Text/HTML; x">
<style>p{}</style><script>no</script><script type="application/LD+json ; x">{"a": 1}</script></head>
<body hidden>before<h1>One <i>x</i></h1>after<p> \u3000two\u00a0 <p>three<b> bold \u2003</b>tail<code>c</code>
<a href=a#1>A  <b>w</b></a><a href=a>again</a> <a href=x><img alt=' Go &amp; '></a><a href=y><div>B</div></a>z<a href=q></a>
<a href=q>later</a><a href=f rel="NoFollow  UGC">1</a><a href=f>2</a><a href=#no>no</a><svg><a xlink:href=v>V</a><title>t</title></svg>
<!--stopindex-->hidden<h2>No</h2><p>words<!-- StartIndex -->shown<table><tr><th>h<td>d</table><dl><dt>t<dd>d</dl>
<div Hidden>gone<h3>gone</h3></div><time datetime=2024>t</time><time>2025</time><iframe src=i#j title=I>x</iframe><map><area href=m
alt=M></map><template><p>t</template><noscript>n</noscript><textarea>t</textarea>one<br>two<hr><select><option>a<option>b</select>
<h6>Six &#128512; \u00e9</h6><strong>s</strong><style>x</style></body></html>"""


def read_html(html: bytes, *, folded: bool = True) -> Document:
    """Read a page that is UTF-8 already (bytes that are not become U+FFFD); never fails.

    ``anchors`` holds each target once, its first text; a target whose first link is ``nofollow``
    comes again when another link to it is not.

    ``<!--googleoff: index-->`` to ``<!--googleon: index-->`` (and ``all``) is ``stopindex`` to ``startindex``: what an
    appliance left out of the index (GSA feeds specification, section 8.4).
    """
    if _OFF in html:
        html = _GOOGLEOFF.sub(lambda found: _MARKS[found[1]], html)
    tree = LexborHTMLParser(html, options=_NO_EVENTS)
    walk = _compiled()
    found = walk(tree, html, folded) if walk is not None else None
    return found if found is not None else walk_in_python(tree, html, folded=folded)


def walk_in_use() -> str:
    """Return which walk reads pages in this process: ``compiled`` or ``python``."""
    return "python" if _compiled() is None else "compiled"


@lru_cache(maxsize=1)
def _compiled() -> compiled.Walk | None:
    """Return the compiled walk if it is there, not refused (``INGATHER_WALK=python``) and right about a page."""
    if os.environ.get("INGATHER_WALK") == "python":
        return None
    walk = compiled.load()
    return walk if walk is not None and _reads_alike(walk) else None


def _reads_alike(walk: compiled.Walk) -> bool:
    html = _EVERYTHING.encode()
    for folded in (True, False):
        tree = LexborHTMLParser(html, options=_NO_EVENTS)
        if walk(tree, html, folded) != walk_in_python(tree, html, folded=folded):
            return False
    return True
