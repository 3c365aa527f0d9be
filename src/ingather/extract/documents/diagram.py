"""SmartArt in presentations of the old format: later versions put it beside the shape, as a package of their own parts."""

from collections.abc import Mapping

from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.package import Package
from ingather.extract.documents.xmlevents import BrokenXmlError, XmlReader, parse_xml

__all__ = ["read_diagram"]


class _Words(XmlReader):
    """Runs of text, a paragraph a block."""

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft
        self._open = False
        self.starts = {"t": self._begin}
        self.ends = {"t": self._end, "p": draft.end_block}

    def text(self, data: str) -> None:
        if self._open:
            self._draft.write(data)

    def _begin(self, _attributes: Mapping[str, str]) -> None:
        self._open = True

    def _end(self) -> None:
        self._open = False


def read_diagram(blob: bytes, draft: Draft) -> None:
    """Read the words of the diagrams in *blob*; a shape that is none has its words in the presentation itself.

    Raises:
        LimitReachedError: a limit of the draft's budget.
    """
    try:
        package = Package(blob, draft.budget)
        for member in package:
            if "diagrams/data" in member.name.lower():
                parse_xml(package.chunks(member), _Words(draft))
    except (BrokenXmlError, ExtractError):
        draft.flag("partial")
    finally:
        draft.end_block()
