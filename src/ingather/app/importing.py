"""Taking over a vendor installation's files: what each line became, and the whole published as a version."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ingather.app.publishing import Published, Publishing
from ingather.conf import Loaded, load, load_bodies, shipped
from ingather.conf.rd.rdschema import NAME as RD_SCHEMA
from ingather.conf.redaction import redacted
from ingather.conf.report import Report
from ingather.conf.sites.rulesconf import GRAMMAR
from ingather.conf.text.blocks import parse_blocks
from ingather.conf.text.physical import decode
from ingather.conf.text.tree import Block, Document, Entry
from ingather.errors import ConfigurationError, UsageError
from ingather.model.diagnostic import Diagnostic

__all__ = ["Imported", "ImportedLine", "import_folder"]

_NAMES = (
    "robot.conf",
    "process.conf",
    "filter.conf",
    "filterrules.conf",
    "mime.types",
    "classification.conf",
    "taxonomy.rdm",
)
_GENERATED = ("convert.conf", "import.conf")
_NEEDED = ("filter.conf", "filterrules.conf", "mime.types")
_DROPPED = frozenset({
    "W-NO-EFFECT", "W-UNSUPPORTED", "E-ROBOT-UNKNOWN", "W-PARAM-UNKNOWN", "W-FN-UNKNOWN", "W-EMAIL", "W-UNUSED-FILTER",
})  # fmt: skip
_REFERENCE = re.compile(rb"""(\b(?:config|file)\s*=\s*["']?)(/[^\s"'>]+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ImportedLine:
    """What became of a line: ``taken``, ``read differently``, ``dropped`` (kept in the file, nothing follows from it) or ``refused``."""

    file: str
    line: int
    text: str
    status: str
    why: str = ""

    def form(self) -> dict[str, Any]:
        """Return it as JSON shows it."""
        return {
            "file": self.file,
            "line": self.line,
            "text": self.text,
            "status": self.status,
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class Imported:
    """What was found, line by line, and the version it became; ``published`` is ``None`` when it was refused.

    ``files``: name -> ``taken``, ``generated: left`` or ``ours: the folder has none``.
    """

    directory: Path
    files: dict[str, str]
    lines: tuple[ImportedLine, ...]
    published: Published | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def form(self) -> dict[str, Any]:
        """Return it as JSON shows it."""
        return {
            "directory": str(self.directory), "files": self.files, "counts": self.counts,
            "lines": [line.form() for line in self.lines],
            "published": self.published.form() if self.published else None,
        }  # fmt: skip


def import_folder(
    publishing: Publishing,
    directory: Path,
    *,
    author: str = "",
    note: str = "",
    confirm: Callable[[Path], None] = lambda _: None,
) -> Imported:
    """Read the robot's files in *directory*, report on each line, publish the whole if nothing is wrong with it.

    Files that are missing are ours. What an absent parameter of robot.conf meant to the vendor's robot it means
    here, so no robot.conf of ours stands in. References to files by absolute paths of the old machine lead to the
    file of that name that came along. What stood in ``config/`` before stays in the history.

    Raises:
        UsageError: *directory* holds no such files.
    """
    folder = directory / "config" if (directory / "config" / "filter.conf").is_file() else directory
    present = [name for name in _NAMES if (folder / name).is_file()]
    if not {"robot.conf", "process.conf", "filter.conf", "filterrules.conf"} & set(present):
        raise UsageError(
            f"{directory} holds no robot's files", hint="name the folder with robot.conf and filter.conf"
        )
    files = dict.fromkeys(present, "taken")
    files |= {name: "generated: left" for name in _GENERATED if (folder / name).is_file()}
    bodies = dict(load(folder).bodies)
    bodies |= {name: (folder / name).read_bytes() for name in present}
    if "robot.conf" in present and "process.conf" in present:
        del bodies["process.conf"]
        files["process.conf"] = "left: robot.conf is its newer name"
    ours = shipped()
    for name in _NEEDED:
        if name not in bodies:
            bodies[name] = ours[name].encode()
            files[name] = "ours: the folder has none"
    schema = publishing.home.config / RD_SCHEMA
    if RD_SCHEMA not in bodies and schema.is_file():  # the vendor's lay in another place
        bodies[RD_SCHEMA] = schema.read_bytes()
        files[RD_SCHEMA] = "ours: stays as it is"
    moved = [line for name in ("filter.conf",) for line in _brought_home(bodies, name)]
    loaded = load_bodies(bodies)
    taken = {name for name, became in files.items() if became == "taken"}
    lines = tuple(sorted((*_lines(loaded, taken), *moved), key=lambda line: (line.file, line.line)))
    counts = {"taken": 0, "read differently": 0, "dropped": 0, "refused": 0}
    for line in lines:
        counts[line.status] += 1
    published = None
    if loaded.ok:
        try:
            published = publishing.publish(
                bodies, author=author, note=note or f"imported from {directory}", confirm=confirm
            )
        except ConfigurationError as error:  # what only the home can know: a source that is not there
            more = [
                _line_of(d, loaded) for d in error.diagnostics if isinstance(d, Diagnostic) and d.is_error
            ]
            counts["refused"] += len(more)
            lines = (*lines, *more)
    return Imported(directory, files, lines, published, counts)


def _brought_home(bodies: dict[str, bytes], name: str) -> Iterator[ImportedLine]:
    """Let references to files of the old machine lead to the files that came along; yield what was changed."""
    rows = bodies[name].split(b"\n")
    for number, row in enumerate(rows, start=1):
        found = _REFERENCE.search(row)
        if found is None or row.lstrip().startswith(b"#"):
            continue
        old = found[2].decode("utf-8", "replace")
        base = PurePosixPath(old).name
        if base not in bodies:
            continue
        rows[number - 1] = row[: found.start(2)] + b"./config/" + base.encode() + row[found.end(2) :]
        why = f"{old} is read as ./config/{base}"
        yield ImportedLine(name, number, row.decode("utf-8", "replace").strip(), "read differently", why)
    bodies[name] = b"\n".join(rows)


def _lines(loaded: Loaded, taken: set[str]) -> Iterator[ImportedLine]:
    """Yield every directive, parameter line and finding of the files in *taken*."""
    found: dict[tuple[str, int], list[Diagnostic]] = {}
    for diagnostic in loaded.diagnostics:
        found.setdefault((diagnostic.file, diagnostic.line), []).append(diagnostic)
    told: set[tuple[str, int]] = set()
    documents = dict(loaded.documents)
    if "filterrules.conf" in loaded.bodies and "filterrules.conf" not in documents:
        text = decode(loaded.bodies["filterrules.conf"], "filterrules.conf", Report())
        documents["filterrules.conf"] = parse_blocks(text, "filterrules.conf", GRAMMAR, Report())
    for name in sorted(taken & set(documents)):
        for line, text in _directives(documents[name]):
            told.add((name, line))
            yield _judged(name, line, text, found.get((name, line), []))
    for (name, line), findings in found.items():
        if (name, line) not in told and (name in taken or any(d.is_error for d in findings)):
            yield _judged(name, line, _text_at(loaded, name, line), findings)


def _directives(document: Document) -> Iterator[tuple[int, str]]:
    for node in document.nodes:
        if isinstance(node, Block):
            yield (
                node.place.line,
                f"<{node.tag} {' '.join(f'{p.name}={p.value}' for p in node.parameters.items)}>",
            )
            for entry in node.entries():
                yield entry.place.line, str(entry)
        elif isinstance(node, Entry):
            yield node.place.line, str(node)


def _judged(name: str, line: int, text: str, findings: list[Diagnostic]) -> ImportedLine:
    why = "; ".join(f"{d.code}: {d.text}" for d in findings)
    if any(d.is_error for d in findings):
        status = "refused"
    elif any(d.code in _DROPPED for d in findings):
        status = "dropped"
    else:
        status = "read differently" if findings else "taken"
    return ImportedLine(name, line, redacted(name, text), status, why)


def _line_of(found: Diagnostic, loaded: Loaded) -> ImportedLine:
    return _judged(found.file, found.line, _text_at(loaded, found.file, found.line), [found])


def _text_at(loaded: Loaded, name: str, line: int) -> str:
    rows = loaded.bodies.get(name, b"").decode("utf-8", "replace").splitlines()
    return rows[line - 1].strip() if 0 < line <= len(rows) else ""
