"""Markdown to plain HTML, as far as our own documents go: the demo must not need their tool chain.

The subset: headings, paragraphs, lists, tables, fenced code, quotes, definition lists, comments, links,
images, emphasis, code spans, and of MyST the directives ``toctree``, ``glossary``, ``eval-rst`` (of
which ``automodule``) and admonitions. What is not of it comes out as text: nothing is lost, and nothing
of the input is ever markup of the output.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

__all__ = ["Links", "Rendered", "render", "slug"]

_FENCE = re.compile(r"(`{3,}|:{3,})\s*(?:\{([\w-]+)\}\s*)?(.*)\Z")
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\Z")
_ITEM = re.compile(r"([*+-]|\d{1,9}[.)])(\s+|\Z)")
_DELIMITER = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\Z")
_RULE = re.compile(r"([-*_])\s*(\1\s*){2,}\Z")
_TARGET = re.compile(r"\(([\w-]+)\)=\Z")
_OPTION = re.compile(r":[\w-]+:.*\Z")
_MODULE = re.compile(r"\.\. automodule:: +([\w.]+)\Z")
_INLINE = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?:\{(?P<role>[\w:-]+)\})?(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|!\[(?P<alt>[^\]]*)\]\((?P<image>[^)\s]+)\)"
    r"|\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<link>[^)\s]*)\)"
    r"|<(?P<auto>https?://[^>\s]+)>"
    r"|(?P<strong>\*\*|__)(?=\S)(?P<bold>.+?)(?<=\S)(?P=strong)"
    r"|(?<![\w*])(?P<mark>[*_])(?=\S)(?P<soft>[^*]+?)(?<=\S)(?P=mark)(?!\w)",
    re.DOTALL,
)
_NESTING = 12
_BEHIND_COLON = 2


@dataclass(frozen=True)
class Links:
    """How a page points elsewhere.

    Attributes:
        resolve: link target as written to (address, title of the target if it is known).
        children: lines of a toctree to (address, title) of the pages that it lists.
        module: dotted name of a module to its docstring, ``""`` if there is none.
    """

    resolve: Callable[[str], tuple[str, str]]
    children: Callable[[Sequence[str]], Sequence[tuple[str, str]]]
    module: Callable[[str], str]


@dataclass
class Rendered:
    """A page: its title as text, its body as HTML, and its headings (level, id, text) in order."""

    title: str = ""
    html: str = ""
    headings: list[tuple[int, str, str]] = field(default_factory=list)


def slug(heading: str) -> str:
    """Return the id of a heading, formed as the documents' own tool chain forms it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def render(text: str, links: Links) -> Rendered:
    """Render a page of the documents."""
    page = _Page(links)
    page.rendered.html = page.blocks(text.expandtabs(4).splitlines(), 0)
    return page.rendered


class _Page:
    def __init__(self, links: Links) -> None:
        self._links = links
        self.rendered = Rendered()

    # -- blocks -----------------------------------------------------------------------------------

    def blocks(self, lines: Sequence[str], nesting: int) -> str:
        if nesting > _NESTING:
            return f"<pre>{escape(chr(10).join(lines))}</pre>\n"
        return "".join(self._blocks(lines, nesting))

    def _blocks(self, lines: Sequence[str], nesting: int) -> Iterator[str]:
        at = 0
        while at < len(lines):
            line = lines[at].strip()
            if not line or _TARGET.match(line):
                at += 1
            elif line.startswith("<!--"):
                at = _first(lines, at, lambda text: "-->" in text) + 1
            elif fence := _FENCE.match(line):
                end = _first(lines, at + 1, _closes(fence[1]))
                yield self._fenced(fence[2] or "", fence[3].strip(), _dedented(lines[at + 1 : end]), nesting)
                at = end + 1
            elif heading := _HEADING.match(line):
                yield self._heading(len(heading[1]), heading[2])
                at += 1
            elif _RULE.match(line):
                yield "<hr>\n"
                at += 1
            elif line.startswith("|") and at + 1 < len(lines) and _DELIMITER.match(lines[at + 1].strip()):
                end = _first(lines, at, lambda text: not text.strip().startswith("|"))
                yield self._table([row.strip() for row in lines[at:end]])
                at = end
            elif line.startswith(">"):
                end = _first(lines, at, lambda text: not text.strip().startswith(">"))
                quoted = [text.strip()[1:].removeprefix(" ") for text in lines[at:end]]
                yield f"<blockquote>\n{self.blocks(quoted, nesting + 1)}</blockquote>\n"
                at = end
            elif _ITEM.match(line):
                html, at = self._list(lines, at, nesting)
                yield html
            else:
                html, at = self._paragraph(lines, at, nesting)
                yield html

    def _heading(self, level: int, text: str) -> str:
        html = self._inline(text)
        plain = re.sub(r"<[^>]+>", "", html)
        name = slug(_unescaped(plain))
        self.rendered.headings.append((level, name, _unescaped(plain)))
        if level == 1 and not self.rendered.title:
            self.rendered.title = _unescaped(plain)
        return f'<h{level} id="{escape(name)}">{html}</h{level}>\n'

    def _paragraph(self, lines: Sequence[str], at: int, nesting: int) -> tuple[str, int]:
        end = at
        while end < len(lines) and lines[end].strip():
            text = lines[end].strip()
            if end > at and (
                _FENCE.match(text) or _HEADING.match(text) or text.startswith(": ") or _ITEM.match(text)
            ):
                break
            end += 1
        if end < len(lines) and end > at and lines[end].strip().startswith(": "):
            return self._definitions(lines, at, nesting)
        return f"<p>{self._inline(_joined(lines[at:end]))}</p>\n", end

    def _definitions(self, lines: Sequence[str], at: int, nesting: int) -> tuple[str, int]:
        """Terms, each followed by lines that begin with a colon."""
        parts = ["<dl>\n"]
        while at < len(lines):
            end = at
            while end < len(lines) and lines[end].strip() and not lines[end].strip().startswith(": "):
                end += 1
            if end == at or end >= len(lines) or not lines[end].strip().startswith(": "):
                break
            parts.append(f"<dt>{self._inline(_joined(lines[at:end]))}</dt>\n")
            at = end
            first = lines[at].strip()[2:]
            end = _first(lines, at + 1, lambda text: bool(text.strip()) and _indent(text) < _BEHIND_COLON)
            rest = _dedented(lines[at + 1 : end])
            at = end
            parts.append(f"<dd>\n{self.blocks([first, *rest], nesting + 1)}</dd>\n")
        return "".join([*parts, "</dl>\n"]), at

    def _list(self, lines: Sequence[str], at: int, nesting: int) -> tuple[str, int]:
        ordered = lines[at].strip()[0].isdigit()
        base = _indent(lines[at])
        items: list[str] = []
        while at < len(lines):
            first = _ITEM.match(lines[at].strip()) if lines[at].strip() else None
            if first is None or _indent(lines[at]) != base or first[1][0].isdigit() != ordered:
                break
            width = base + len(first[0]) if first[2] else base + len(first[1]) + 1
            inner = [lines[at].strip()[len(first[0]) :]]
            at += 1
            while at < len(lines):
                text = lines[at]
                blank = not text.strip()
                following = next((row for row in lines[at + 1 :] if row.strip()), "") if blank else text
                lazy = not blank and not _ITEM.match(text.strip()) and bool(inner[-1].strip())
                if not following.strip() or (_indent(following) < min(width, base + 2) and not lazy):
                    break
                inner.append(text[min(width, _indent(text)) :])
                at += 1
            html = self.blocks(inner, nesting + 1)
            items.append(f"<li>{_tight(html)}</li>\n")
            while at < len(lines) and not lines[at].strip():
                at += 1
        tag = "ol" if ordered else "ul"
        return f"<{tag}>\n{''.join(items)}</{tag}>\n", at

    def _table(self, rows: Sequence[str]) -> str:
        head, body = _cells(rows[0]), [_cells(row) for row in rows[2:]]
        parts = ["<table>\n<tr>", *(f"<th>{self._inline(cell)}</th>" for cell in head), "</tr>\n"]
        for row in body:
            parts += ["<tr>", *(f"<td>{self._inline(cell)}</td>" for cell in row), "</tr>\n"]
        return "".join([*parts, "</table>\n"])

    # -- directives -------------------------------------------------------------------------------

    def _fenced(self, directive: str, argument: str, lines: Sequence[str], nesting: int) -> str:
        content = [line for line in lines if not _OPTION.match(line)] if directive else lines
        match directive:
            case "" | "code-block" | "literalinclude":
                language = f' class="language-{escape(argument)}"' if argument else ""
                return f"<pre><code{language}>{escape(chr(10).join(content))}</code></pre>\n"
            case "toctree":
                listed = self._links.children([line.strip() for line in content if line.strip()])
                items = [f'<li><a href="{escape(url)}">{escape(title)}</a></li>\n' for url, title in listed]
                return f"<ul>\n{''.join(items)}</ul>\n" if items else ""
            case "glossary":
                return self._glossary(content, nesting)
            case "eval-rst":
                return "".join(self._module(match[1]) for line in content if (match := _MODULE.match(line)))
            case "image" | "figure":
                return f"<p>{self._image(argument, '')}</p>\n" + self.blocks(content, nesting + 1)
            case _:
                title = f"<p><strong>{self._inline(argument)}</strong></p>\n" if argument else ""
                return f"<aside>\n{title}{self.blocks(content, nesting + 1)}</aside>\n"

    def _glossary(self, lines: Sequence[str], nesting: int) -> str:
        parts = ["<dl>\n"]
        at = 0
        while at < len(lines):
            if not lines[at].strip():
                at += 1
                continue
            term = lines[at].strip()
            at += 1
            inner: list[str] = []
            while at < len(lines) and (not lines[at].strip() or lines[at].startswith(" ")):
                inner.append(lines[at].strip())
                at += 1
            name = f"term-{slug(term)}"
            parts.append(f'<dt id="{escape(name)}">{self._inline(term)}</dt>\n')
            parts.append(f"<dd>\n{self.blocks(inner, nesting + 1)}</dd>\n")
        return "".join([*parts, "</dl>\n"])

    def _module(self, name: str) -> str:
        docstring = self._links.module(name)
        if not docstring:
            return ""
        head = f'<h3 id="{escape(slug(name))}"><code>{escape(name)}</code></h3>\n'
        return f"{head}<pre>{escape(docstring)}</pre>\n"

    # -- inside a line ----------------------------------------------------------------------------

    def _inline(self, text: str) -> str:
        parts: list[str] = []
        at = 0
        for found in _INLINE.finditer(text):
            parts.append(escape(text[at : found.start()], quote=False))
            parts.append(self._span(found))
            at = found.end()
        parts.append(escape(text[at:], quote=False))
        return "".join(parts)

    def _span(self, found: re.Match[str]) -> str:
        match found.lastgroup:
            case "escape":
                html = escape(found["escape"][1:], quote=False)
            case "code" if found["role"]:
                html = escape(found["code"])
            case "code":
                html = f"<code>{escape(_stripped(found['code']), quote=False)}</code>"
            case "image":
                html = self._image(found["image"], found["alt"])
            case "auto":
                html = f'<a href="{escape(found["auto"])}">{escape(found["auto"])}</a>'
            case "link":
                html = self._link(found["text"], found["link"])
            case "bold":
                html = f"<strong>{self._inline(found['bold'])}</strong>"
            case _:
                html = f"<em>{self._inline(found['soft'])}</em>"
        return html

    def _link(self, text: str, target: str) -> str:
        address, title = self._links.resolve(target)
        shown = self._inline(text) if text else escape(title or target)
        return f'<a href="{escape(address)}">{shown}</a>' if address else shown

    def _image(self, target: str, alt: str) -> str:
        address, _ = self._links.resolve(target)
        return f'<img src="{escape(address)}" alt="{escape(alt)}">' if address else escape(alt)


def _first(lines: Sequence[str], at: int, wanted: Callable[[str], bool]) -> int:
    """Return the number of the first line from *at* on that is *wanted*, behind the last if none is."""
    return next((number for number in range(at, len(lines)) if wanted(lines[number])), len(lines))


def _closes(fence: str) -> Callable[[str], bool]:
    def closes(line: str) -> bool:
        bare = line.strip()
        return len(bare) >= len(fence) and set(bare) == {fence[0]}

    return closes


def _dedented(lines: Sequence[str]) -> list[str]:
    least = min((_indent(line) for line in lines if line.strip()), default=0)
    return [line[least:] for line in lines]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(line.strip() for line in lines)


def _cells(row: str) -> list[str]:
    bare = row.strip().removeprefix("|")
    bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", bare)]


def _stripped(code: str) -> str:
    padded = code.startswith(" ") and code.endswith(" ") and code.strip()
    return code[1:-1] if padded else code


def _tight(html: str) -> str:
    """A list item that is one paragraph is shown without it."""
    if html.startswith("<p>") and html.count("<p>") == 1:
        return html.removeprefix("<p>").replace("</p>\n", "", 1)
    return html


def _unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
