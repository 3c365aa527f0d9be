"""XFA forms in PDF: the words of the form's template and the values of its data set, which are XML."""

from collections.abc import Iterable, Mapping

from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.xmlevents import BrokenXmlError, XmlReader, parse_xml

__all__ = ["read_xfa"]


class _Template(XmlReader):
    """What the form shows: ``text`` and rich ``exData``; scripts are neither."""

    skipped = frozenset({"script", "event", "calculate", "validate", "bind", "desc", "extras"})

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft
        self._depth = 0
        self.starts = {"text": self._open, "exData": self._open}
        self.ends = {"text": self._close, "exData": self._close, "p": draft.end_block}

    def text(self, data: str) -> None:
        if self._depth:
            self._draft.write(data)

    def _open(self, _attributes: Mapping[str, str]) -> None:
        self._depth += 1

    def _close(self) -> None:
        self._depth -= 1
        self._draft.end_block()


class _Data(XmlReader):
    """What was filled in: all character data of the data set."""

    skipped = frozenset({"dataDescription"})

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft

    def text(self, data: str) -> None:
        self._draft.write(data)
        if "\n" not in data:
            self._draft.write("\n")


def read_xfa(packets: Iterable[tuple[str, bytes]], draft: Draft) -> None:
    """Read the packets (name, XML) of a form; broken or refused ones are left out, flagged ``partial``.

    Raises:
        LimitReachedError: a limit of the draft's budget.
    """
    for name, content in packets:
        reader: XmlReader
        if name == "template":
            reader = _Template(draft)
        elif name == "datasets":
            reader = _Data(draft)
        else:
            continue
        try:
            parse_xml([content], reader)
        except (BrokenXmlError, ExtractError):
            draft.flag("partial")
        finally:
            draft.end_block()
