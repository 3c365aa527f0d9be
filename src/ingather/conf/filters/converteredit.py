"""The convert-to-html lines of a filter: read, and switched on and off in place; every other byte stays."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ingather.conf.filters.filterconf import GRAMMAR
from ingather.conf.filters.vocabulary import function_name
from ingather.conf.report import Report
from ingather.conf.text.blocks import parse_blocks
from ingather.conf.text.textedit import FileEdit, written
from ingather.conf.text.tree import Block, Entry
from ingather.errors import ConfigurationError, UnitError, UsageError
from ingather.model.diagnostic import Place
from ingather.units import parse_bool

__all__ = ["ConverterLine", "converter_lines", "switched_converter"]

_FUNCTION: Final = "convert-to-html"


@dataclass(frozen=True, slots=True)
class ConverterLine:
    """One line: the media type in lower case, whether it is carried out, where it stands, and as it is written."""

    type: str
    enabled: bool
    place: Place
    text: str


def converter_lines(body: bytes, filter_: str, *, file: str) -> list[ConverterLine]:
    """Return the lines of filter *filter_* in their order; lines that are not understood are left out."""
    block = _filter(FileEdit(file, body), filter_)
    return [] if block is None else [_line(entry) for entry in _entries(block)]


def switched_converter(body: bytes, filter_: str, media_type: str, *, on: bool, file: str) -> bytes:
    """Return *body* (a filter.conf) with the lines of *media_type* in filter *filter_* switched on or off.

    Switching on what has no line writes one, behind the last of its kind. What was switched off here is switched on by taking
    out what was put in, so that the bytes are those that were.

    Raises:
        UsageError: there is no such filter, or nothing to switch off.
        ConfigurationError: the file cannot be read; it is not touched.
    """
    edit, report = FileEdit(file, body), Report()
    parse_blocks(edit.text, file, GRAMMAR, report)
    if report.refused:
        raise ConfigurationError(report.sorted(), bodies={file: body})
    block = _filter(edit, filter_)
    if block is None:
        raise UsageError(f"{file} has no filter {filter_!r}")
    entries = [entry for entry in _entries(block) if _type_of(entry) == media_type]
    if not entries:
        if not on:
            raise UsageError(
                f"{filter_} has no line that converts {media_type}",
                hint="ingather converter list shows those there are",
            )
        edit.insert(_behind(block), [f"Data fn={_FUNCTION} type={written(media_type)}"])
    for entry in entries:
        if _enabled(entry) is not on:
            _switch(edit, entry, on=on)
    return edit.done()


def _switch(edit: FileEdit, entry: Entry, *, on: bool) -> None:
    item = entry.get("enable")
    if item is None:
        edit.put_first(entry.place, entry.keyword, "enable", "false")
    elif on and entry.items[0] is item and item.place.line == entry.place.line and len(entry.items) > 1:
        edit.drop(entry.parameters, "enable")
    else:
        edit.put(entry.parameters, "enable", str(on).lower())


def _filter(edit: FileEdit, filter_: str) -> Block | None:
    document = parse_blocks(edit.text, edit.file, GRAMMAR, Report())
    named = ((block, block.get("name")) for block in document.blocks("Filter"))
    return next((block for block, name in named if name is not None and name.value == filter_), None)


def _entries(block: Block) -> Iterator[Entry]:
    for entry in block.entries():
        function = entry.get("fn")
        if function is not None and function_name(function.value) == _FUNCTION and _type_of(entry):
            yield entry


def _type_of(entry: Entry) -> str:
    item = entry.get("type")
    return "" if item is None else item.value.strip().lower()


def _enabled(entry: Entry) -> bool:
    item = entry.get("enable")
    try:
        return item is None or parse_bool(item.value)
    except UnitError:
        return False


def _line(entry: Entry) -> ConverterLine:
    return ConverterLine(_type_of(entry), _enabled(entry), entry.place, str(entry))


def _behind(block: Block) -> int:
    """Return the line behind the last line of its kind, else behind the last of Data and before, else at the beginning."""
    body = block.body
    there = {id(entry) for entry in _entries(block)}
    kinds = [n for n, node in enumerate(body) if id(node) in there]
    data = [
        n
        for n, node in enumerate(body)
        if isinstance(node, Entry) and node.keyword in ("Setup", "MetaData", "Data")
    ]
    found = kinds or data
    if not found:
        return block.place.line + 1
    after = found[-1] + 1
    if after < len(body):
        return body[after].place.line
    return block.end.line if block.end is not None else body[-1].place.line + 1
