"""The documents of this project as a small web site: HTML pages, a PDF file, a Word file.

::

    docs/*.md -> markdown.render -> a page each  -+
    the glossary -> paper.make_pdf ---------------+-> Site (path -> Resource) -> hosting serves it
    the table of settings -> wordfile.make_docx --+
    README and its sisters, page by page ---------+

Nothing is written to disk. The index page, ``/``, links to everything.
"""

import ast
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

import ingather
from ingather.app.demo.markdown import Links, Rendered, render, slug
from ingather.app.demo.paper import make_pdf
from ingather.app.demo.wordfile import make_docx
from ingather.conf.settings.table import SECTIONS, SETTINGS
from ingather.errors import UsageError

__all__ = ["DRAFTS", "Resource", "documentation_folder", "documentation_site"]

DRAFTS = "drafts/changes.html"
"""Change notes that are not released: served, linked, and kept from robots by robots.txt."""

_PAPERS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
_IMAGES = {".png": "image/png", ".svg": "image/svg+xml", ".jpg": "image/jpeg"}
_PDF, _WORD = "files/glossary.pdf", "files/settings.docx"
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_TERM = re.compile(r"^(?P<term>\S.*)\n(?P<meaning>(?:^[ ]+\S.*\n?|^\n(?=[ ]))+)", re.MULTILINE)
_LEADS = re.compile(r"[a-z][a-z0-9+.-]*:|/|#", re.IGNORECASE)

_STYLE = (
    "body{font:1rem/1.5 sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}"
    "pre,code{font-family:monospace;background:#8882}pre{padding:.5rem;overflow:auto}"
    "td,th{text-align:left;vertical-align:top;padding:.2rem .6rem .2rem 0}"
)


@dataclass(frozen=True)
class Resource:
    """One file of the site: media type, bytes, when it was last changed (wall seconds)."""

    media_type: str
    body: bytes
    changed_s: float = 0.0


def documentation_folder() -> Path:
    """Return the folder of the documents' sources.

    Raises:
        UsageError: this is an installed package, which does not carry them.
    """
    root = Path(ingather.__file__).resolve().parents[2]
    if not (root / "docs" / "index.md").is_file():
        raise UsageError(
            "the documents that the demo gathers are part of the source, not of an installed package",
            hint="run ./run demo in a clone, or name a site: ingather demo https://intranet.example/",
        )
    return root / "docs"


def documentation_site(docs: Path) -> dict[str, Resource]:
    """Return the site made of the documents in *docs*: path below the root (``""`` = the index) to resource."""
    return _Builder(docs).build()


class _Builder:
    def __init__(self, docs: Path) -> None:
        self._docs = docs
        found = (
            path for path in docs.rglob("*.md") if "_build" not in path.parts and path.name != "README.md"
        )
        self._sources = {path.relative_to(docs).as_posix(): path for path in sorted(found)}
        self._sources |= {name: docs.parent / name for name in _PAPERS if (docs.parent / name).is_file()}
        self._titles = {name: _title(path) for name, path in self._sources.items()}
        self._images: dict[str, Path] = {}

    def build(self) -> dict[str, Resource]:
        site: dict[str, Resource] = {}
        for name, path in self._sources.items():
            page = render(path.read_text("utf-8"), self._links(name))
            html = self._dressed(name, page)
            site[_address(name)] = Resource("text/html; charset=utf-8", html.encode(), path.stat().st_mtime)
        newest = max(resource.changed_s for resource in site.values())
        site[_PDF] = Resource("application/pdf", self._glossary(), newest)
        site[_WORD] = Resource(_DOCX, _settings_file(), newest)
        site[DRAFTS] = Resource("text/html; charset=utf-8", self._drafts().encode(), newest)
        for address, path in self._images.items():
            site[address] = Resource(_IMAGES[path.suffix], path.read_bytes(), path.stat().st_mtime)
        site["robots.txt"] = Resource(
            "text/plain; charset=utf-8", b"User-agent: *\nDisallow: /drafts/\n", newest
        )
        return site

    def _dressed(self, name: str, page: Rendered) -> str:
        title = page.title or self._titles.get(name, name)
        up = "" if name == "index.md" else '<p><a href="/">Ingather documents</a></p>\n'
        everything = self._everything() if name == "index.md" else ""
        return (
            f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
            f'<meta name="viewport" content="width=device-width">\n<style>{_STYLE}</style>\n</head>\n<body>\n'
            f"{up}<main>\n{page.html}{everything}</main>\n</body>\n</html>\n"
        )

    def _drafts(self) -> str:
        notes = sorted((self._docs.parent / "changelog.d").glob("*.*.md"))
        text = "\n\n".join(["# Changes to come", *(path.read_text("utf-8") for path in notes)])
        return self._dressed("", render(text, self._links("")))

    def _everything(self) -> str:
        """List all pages and files: what no table of contents names is found by a crawler all the same."""
        items = [(f"/{_address(name)}", self._titles[name]) for name in self._sources if name != "index.md"]
        items += [(f"/{_PDF}", "Glossary, to be printed (PDF)"), (f"/{_WORD}", "Table of settings (Word)")]
        items += [(f"/{DRAFTS}", "Changes to come")]
        rows = [f'<li><a href="{escape(quote(url))}">{escape(title)}</a></li>\n' for url, title in items]
        return f'<h2 id="everything">Everything</h2>\n<ul>\n{"".join(rows)}</ul>\n'

    # -- links ------------------------------------------------------------------------------------

    def _links(self, name: str) -> Links:
        folder = posixpath.dirname(name)
        return Links(
            resolve=lambda target: self._resolve(folder, target),
            children=lambda listed: self._children(name, listed),
            module=self._docstring,
        )

    def _resolve(self, folder: str, target: str) -> tuple[str, str]:
        """Return where *target*, written on a page of *folder*, is in this site; ``""`` if it is not in it."""
        if _LEADS.match(target):
            return target, ""
        path, _, fragment = target.partition("#")
        name = posixpath.normpath(posixpath.join(folder, path))
        name = name.removeprefix("../") if name.startswith("../") else name.removeprefix("docs/")
        behind = f"#{fragment}" if fragment else ""
        for candidate in (name, f"{name}.md", f"{name}/index.md"):
            if candidate in self._sources:
                return f"/{quote(_address(candidate))}{behind}", self._titles[candidate]
        image = self._docs / name
        if image.suffix in _IMAGES and image.is_file():
            self._images[name] = image
            return f"/{quote(name)}", ""
        return "", ""

    def _children(self, name: str, listed: Sequence[str]) -> list[tuple[str, str]]:
        folder = posixpath.dirname(name)
        names: list[str] = []
        for entry in listed:
            if "*" in entry:
                names += [
                    n for n in self._sources if posixpath.dirname(n) == folder and n not in (*_PAPERS, name)
                ]
            else:
                names.append(posixpath.normpath(posixpath.join(folder, f"{entry}.md")))
        return [(f"/{quote(_address(n))}", self._titles[n]) for n in names if n in self._sources]

    def _docstring(self, module: str) -> str:
        """Return a module's docstring, read from its source: importing is not this room's business."""
        root = Path(ingather.__file__).resolve().parent
        place = root.parent / Path(*module.split("."))
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if root in path.parents and path.is_file():
                return ast.get_docstring(ast.parse(path.read_bytes())) or ""
        return ""

    # -- files ------------------------------------------------------------------------------------

    def _glossary(self) -> bytes:
        source = self._sources.get("reference/glossary.md")
        text = source.read_text("utf-8") if source else ""
        inside = text.partition("{glossary}\n")[2].partition("\n```")[0] + "\n"
        entries = [
            (" ".join(found["term"].split()), _plain(" ".join(found["meaning"].split())))
            for found in _TERM.finditer(inside)
        ]
        return make_pdf(
            "Glossary of Ingather", entries or [("Ingather", "gathers documents for enterprise search")]
        )


def _settings_file() -> bytes:
    rows = [(f"{s.section}.{s.key}", s.write(s.default), s.help) for s in SETTINGS]
    intro = [f"{section}: {about}" for section, about in SECTIONS.items()]
    return make_docx("Settings of Ingather", intro, ("Setting", "Default", "Meaning"), rows)


def _address(name: str) -> str:
    """Return where a source's page is: ``index.md`` is the root itself."""
    return "" if name == "index.md" else f"{name.removesuffix('.md')}.html"


def _title(path: Path) -> str:
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("# "):
            return _plain(line[2:].strip())
    return slug(path.stem).replace("-", " ").capitalize()


def _plain(text: str) -> str:
    """Return Markdown of one line without its marks."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "").replace("**", "").replace("*", "")
