"""What Harvest's ``HTML.sum`` printed: the default table of its SGML summarizer (specification 14.2).

Each element sends its text to attributes: some take it away from what stands around them (headings, addresses,
references, title), some leave it there too (links and emphasis, whose words become keywords). Code is dropped.
Values of one attribute are lines of one text, as the summarizer joined them.
"""

from collections.abc import Mapping
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ingather.extract.charset import decode

__all__ = ["summarize_html"]

_PARENT: Final = "parent"
_TABLE: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("a", "b", "em", "i", "strong", "tt", "ul"), ("keywords", _PARENT)),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), ("headings",)),
    "address": ("address",),
    "body": ("body",),
    "cite": ("references",),
    "head": ("head",),
    "title": ("title",),
    **dict.fromkeys(("code", "script", "style", "template", "noscript"), ()),
}
_BLOCKS: Final = frozenset(
    {
        "address", "article", "aside", "blockquote", "br", "caption", "dd", "div", "dl", "dt", "fieldset",
        "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav",
        "ol", "p", "pre", "section", "table", "td", "th", "tr", "ul", "title",
    }
)  # fmt: skip
_LONGEST_CHARS: Final = 256 * 1024
_MOST_VALUES: Final = 2_000
_MOST_METAS: Final = 256


def summarize_html(body: bytes, *, content_type: str | None = None) -> dict[str, tuple[str, ...]]:
    """Return the attributes of an HTML body, names in lower case; absent ones are left out."""
    text, _ = decode(body, content_type=content_type)
    root = LexborHTMLParser(text).root
    found = _Found()
    if root is not None:
        found.walk(root)
    return found.attributes()


class _Found:
    """Pieces of text by attribute; a line ends where a block does."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[str]] = {}
        self._chars: dict[str, int] = {}
        self._metas: dict[str, list[str]] = {}

    def walk(self, root: LexborNode) -> None:
        """Visit every node once, in document order; no recursion, for documents may be deep."""
        waiting: list[tuple[LexborNode, tuple[str, ...], bool]] = [(root, (), False)]
        while waiting:
            node, targets, leaving = waiting.pop()
            tag = node.tag or ""
            if leaving:
                self._leave(tag, targets)
            elif tag == "-text":
                self._add(targets, node.text_content or "")
            elif not tag.startswith(("-", "!", "_")):
                inner = self._enter(node, tag, targets)
                waiting.append((node, inner, True))
                if inner:
                    children = [(child, inner, False) for child in node.iter(include_text=True)]
                    waiting.extend(reversed(children))

    def _enter(self, node: LexborNode, tag: str, targets: tuple[str, ...]) -> tuple[str, ...]:
        """Return where the text inside goes; ``()`` = nowhere, nothing inside is visited."""
        attributes = node.attributes if tag in {"a", "img", "meta"} else {}
        if tag == "a":
            self._line("url-references", attributes.get("href"))
        elif tag == "img":
            self._line("images", attributes.get("src"))
        elif tag == "meta":
            self._meta(attributes.get("name"), attributes.get("content"))
        sent = _TABLE.get(tag)
        if sent is None:
            return targets or ("-",)
        if tag in _BLOCKS:
            self._break(targets)
        own = tuple(name for name in sent if name != _PARENT)
        return tuple(dict.fromkeys((*own, *targets))) if _PARENT in sent else own

    def _leave(self, tag: str, targets: tuple[str, ...]) -> None:
        if tag in _BLOCKS or tag in _TABLE:
            # Two keywords side by side are two lines; the text around them goes on.
            self._break(targets if tag in _BLOCKS else ("keywords",) if "keywords" in targets else ())

    def _add(self, targets: tuple[str, ...], text: str) -> None:
        for name in targets:
            if name != "-" and self._chars.get(name, 0) < _LONGEST_CHARS:
                self._pieces.setdefault(name, []).append(text)
                self._chars[name] = self._chars.get(name, 0) + len(text)

    def _break(self, targets: tuple[str, ...]) -> None:
        for name in targets:
            if name in self._pieces:
                self._pieces[name].append("\n")

    def _line(self, name: str, value: str | None) -> None:
        if value and value.strip() and len(self._pieces.get(name, ())) < 2 * _MOST_VALUES:
            self._add((name,), " ".join(value.split()))
            self._pieces.setdefault(name, []).append("\n")

    def _meta(self, name: str | None, content: str | None) -> None:
        key = (name or "").strip().lower()
        if key and content and len(self._metas) < _MOST_METAS:
            self._metas.setdefault(key, []).append(content.strip()[:_LONGEST_CHARS])

    def attributes(self) -> dict[str, tuple[str, ...]]:
        """Return what was found; keywords and addresses of links each once."""
        found: dict[str, tuple[str, ...]] = {}
        for name, pieces in self._pieces.items():
            lines = [" ".join(line.split()) for line in "".join(pieces).split("\n")]
            lines = [line for line in lines if line]
            if name in {"keywords", "url-references", "images"}:
                lines = list(dict.fromkeys(lines))
            if lines:
                found[name] = ("\n".join(lines),)
        for name, values in self._metas.items():
            there = found.get(name, ())
            found[name] = tuple(values) if not there else ("\n".join((*values, *there)),)
        return found
