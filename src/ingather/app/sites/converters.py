"""Converters of documents, which are lines of filter.conf: listed, switched on and off by type."""

from dataclasses import replace
from typing import Any

from ingather.app.plugging import plug_ins
from ingather.app.sites.editing import Asked, Editing, etag_of, mistakes_of
from ingather.conf import Loaded
from ingather.conf.filters.converteredit import converter_lines, switched_converter
from ingather.conf.names import nearest
from ingather.errors import UsageError
from ingather.extract.readers import reader_of

__all__ = ["ConverterDesk"]

_FILE = "filter.conf"


class ConverterDesk:
    """What ``ingather converter`` does; every answer is a JSON-ready dictionary. Called from several threads."""

    def __init__(self, editing: Editing) -> None:
        self._editing = editing

    def listed(self, filter_: str = "") -> dict[str, Any]:
        """Return the convert-to-html lines of a filter, by default of the generation filter.

        Raises:
            UsageError: there is no such filter.
        """
        read = self._editing.read()
        name, file = _filter_of(read.loaded, filter_)
        own = plug_ins(self._editing.home, read.settings).converters
        lines = converter_lines(read.loaded.bodies.get(file, b""), name, file=file)
        return {
            "mistakes": mistakes_of(read),
            "etag": etag_of(read.loaded),
            "filter": name,
            "converters": [
                {
                    "type": line.type, "reader": "plug-in" if line.type in own else reader_of(line.type), "enabled": line.enabled,
                    "where": f"{line.place.file}:{line.place.line}", "line": line.text,
                }
                for line in lines
            ],
        }  # fmt: skip

    def switch(self, media_type: str, asked: Asked, *, on: bool, filter_: str = "") -> dict[str, Any]:
        """Switch the conversion of a type on or off; the name of a reader means all types with lines that it takes.

        Raises:
            UsageError: nothing reads such documents, there is no line to switch off, or no such filter.
        """
        wanted = media_type.strip().lower()
        read = self._editing.read()
        name, file = _filter_of(read.loaded, filter_)
        known = dict.fromkeys(
            line.type for line in converter_lines(read.loaded.bodies.get(file, b""), name, file=file)
        )
        own = plug_ins(self._editing.home, read.settings).converters
        of_reader = tuple(one for one in known if one != "unknown" and reader_of(one) == wanted)
        if not of_reader and wanted not in known and not reader_of(wanted) and wanted not in own:
            near = nearest(wanted, set(known) | set(own))
            raise UsageError(
                f"there is no reader for {media_type!r}",
                hint=f"did you mean {' or '.join(near)}?"
                if near
                else "ingather converter list shows the types",
            )
        asked = replace(asked, note=asked.note or f"converter {wanted} {'enabled' if on else 'disabled'}")

        def change(loaded: Loaded) -> tuple[str, bytes]:
            there, place = _filter_of(loaded, filter_)
            body = loaded.bodies[place]
            for one in of_reader or (wanted,):
                body = switched_converter(body, there, one, on=on, file=place)
            return place, body

        edited = self._editing.edit(change, asked)
        return {"type": wanted, "types": list(of_reader or (wanted,)), "filter": name, **edited.form()}


def _filter_of(loaded: Loaded, name: str) -> tuple[str, str]:
    """Return (name, file) of a filter, by default of the selected generation filter."""
    wanted = name or loaded.robot.generation_filter
    found = loaded.filters.get(wanted)
    if found is None:
        raise UsageError(
            f"there is no filter {wanted!r}", hint=f"defined: {', '.join(loaded.filters) or 'none'}"
        )
    return wanted, found.place.file or _FILE
