"""MIME maps: file-name extensions to media types, in NSAPI or Apache form."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ingather.conf.report import Report
from ingather.conf.text.physical import physical_lines
from ingather.model.diagnostic import Place

__all__ = ["MimeMap", "parse_mime"]

_NSAPI = re.compile(r"\s*([A-Za-z]+)\s*=\s*(\"[^\"]*\"|\S+)")
_TYPE = re.compile(r"[!#$&^_.+\w-]+/[!#$&^_.+\w*-]+")


class MimeMap:
    """Extensions (lower case, without dot) to media types (lower case)."""

    def __init__(self, types: Mapping[str, str] | None = None) -> None:
        self.types: Mapping[str, str] = MappingProxyType(dict(types or {}))

    def type_of(self, name: str) -> str | None:
        """Return the type of a path or file name by its last extension; ``x.tar.gz`` goes by ``gz``."""
        last = name[name.rfind("/") + 1 :]
        dot = last.rfind(".")
        return self.types.get(last[dot + 1 :].lower()) if dot >= 0 else None

    def merged(self, other: "MimeMap") -> "MimeMap":
        """Return this map with *other* laid over it."""
        return MimeMap({**self.types, **other.types})

    def __len__(self) -> int:
        return len(self.types)


def parse_mime(text: str, file: str, report: Report) -> MimeMap:
    """Read a MIME map; a later line wins; lines of neither form are reported (``W-MIME``) and left out.

    Both ``type=text/html exts=htm,html`` and ``text/html html htm`` are read.
    """
    types: dict[str, str] = {}
    for line in physical_lines(text, file, report):
        content = line.text.strip()
        if not content or content[0] == "#":
            continue
        found = _read(content)
        if found is None:
            if report.only_counts_warning():
                continue
            at = len(line.text) - len(line.text.lstrip()) + 1
            report.add(
                "W-MIME",
                Place(file, line.number, at),
                "neither 'type=text/html exts=htm,html' nor 'text/html html htm'",
            )
            continue
        media_type, extensions = found
        for extension in extensions:
            types[extension.strip().lstrip(".").lower()] = media_type.lower()
    types.pop("", None)
    return MimeMap(types)


def _read(content: str) -> tuple[str, Iterable[str]] | None:
    if "=" in content.split(maxsplit=1)[0]:
        fields = {m[1].lower(): m[2].strip('"') for m in _NSAPI.finditer(content)}
        if "type" in fields and "exts" in fields and _TYPE.fullmatch(fields["type"]):
            return fields["type"], fields["exts"].split(",")
        # Encodings and languages of the web server's own maps: nothing for us.
        return ("", ()) if {"enc", "lang"} & fields.keys() else None
    if "/" not in content:
        return None
    media_type, *extensions = content.split("#", maxsplit=1)[0].split()
    return (media_type, extensions) if _TYPE.fullmatch(media_type) else None
