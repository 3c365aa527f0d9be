"""Document data XML: a document given field by field, in place of its page (Smartsite Enterprise Search).

``<esdocument>`` in the namespace ``http://smartsite.nl/namespaces/documentdata/1.0`` has one element a field, with repeated ``<value>`` elements
for a field of several values, and an optional list of dependencies. Elements of other namespaces are passed over.
"""

from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from ingather.syndication.dates import tidy
from ingather.syndication.encodings import decode_listing
from ingather.syndication.names import attribute, local_name, namespace_of, text_of

__all__ = ["NAMESPACE", "EsDocument", "read_esdocument"]

NAMESPACE: Final = "http://smartsite.nl/namespaces/documentdata/1.0"

_MOST_BYTES: Final = 32 << 20
_FIELDS: Final = 1000
_VALUES: Final = 10_000
_REMARKS: Final = 50
_YES: Final = frozenset({"1", "true", "yes"})


@dataclass(frozen=True, slots=True)
class EsDocument:
    """One document.

    Attributes:
        fields: values by name in lower case (``doc_title``, ``extra_colour``), in the file's order; a field without text has
            the one value ``""``. White space inside values is kept.
        dependencies: what the document is made of; when one of them changes, so does it.
        dirty: it is to be indexed anew although nothing seems to have changed.
        remarks: what was passed over, fit for people.
        error: why this is no such document, ``""`` if it is one.
    """

    fields: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dependencies: tuple[str, ...] = ()
    dirty: bool = False
    remarks: tuple[str, ...] = ()
    error: str = ""


def read_esdocument(body: bytes, *, content_type: str | None = None) -> EsDocument:
    """Read one document; never raises for what is in it. Strict: what is not well-formed is an error."""
    if len(body) > _MOST_BYTES:
        return EsDocument(error=f"larger than {_MOST_BYTES} bytes")
    text, broken = decode_listing(body, content_type)
    if broken:
        return EsDocument(error=broken)
    text = text.lstrip("\ufeff \t\r\n")
    if "<!DOCTYPE" in text.partition("<esdocument")[0]:
        return EsDocument(error="refused: has a document type")
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )  # fmt: skip
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        return EsDocument(error=f"not well-formed: {error.msg}")
    space = namespace_of(str(root.tag))
    if local_name(root.tag) != "esdocument" or space not in {NAMESPACE, ""}:
        return EsDocument(
            error=f"the root element <{local_name(root.tag)[:40]}> is not that of a document of data"
        )
    return _read(root, space)


def _read(root: etree._Element, space: str) -> EsDocument:
    fields: dict[str, list[str]] = {}
    dependencies: list[str] = []
    remarks: list[str] = []
    dirty = (attribute(root, "dirty") or "").strip().lower() in _YES
    for element in root:
        name = local_name(element.tag)
        if namespace_of(str(element.tag)) != space:
            _remark(remarks, f"line {element.sourceline}: <{name[:40]}> is of another namespace: passed over")
        elif name == "dependencies":
            dependencies += [tidy(text_of(child)) for child in element if tidy(text_of(child))][:_VALUES]
        elif name == "dirty":
            dirty = tidy(text_of(element)).lower() in _YES or dirty
        elif name not in fields and len(fields) >= _FIELDS:
            _remark(remarks, f"more than {_FIELDS} fields: {name[:40]} is passed over")
        else:
            _take(fields.setdefault(name, []), element, remarks)
    return EsDocument(
        {name: tuple(values) for name, values in fields.items()},
        tuple(dict.fromkeys(dependencies)),
        dirty,
        tuple(remarks),
    )


def _take(values: list[str], element: etree._Element, remarks: list[str]) -> None:
    several = [child for child in element if local_name(child.tag) == "value"]
    found = [text_of(child).strip() for child in several] if several else [text_of(element).strip()]
    room = _VALUES - len(values)
    values += found[:room]
    if len(found) > room:
        _remark(remarks, f"line {element.sourceline}: more than {_VALUES} values: the rest is passed over")


def _remark(remarks: list[str], text: str) -> None:
    if len(remarks) < _REMARKS:
        remarks.append(text)
