"""RDM messages and submit requests: SOIF objects to values and back (specification 12.2, 12.3).

A query is ``@RDMHEADER { -`` and, where it asks something, ``@RDMQUERY { -``; an rd-delete-request may have
``@DOCUMENT`` objects in its place. A submit request is ``@REQUEST { -`` and
``@DOCUMENT`` objects. ``submit-layer``, ``submit-source`` and the counts in a ``@RESPONSE`` are ours.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ingather.conf.rd.soif import SoifObject, write_object
from ingather.errors import UsageError
from ingather.model.description import Attributes

__all__ = [
    "OPERATIONS",
    "TYPES",
    "VERSION",
    "RdmQuery",
    "Submit",
    "database_name",
    "header",
    "names_of",
    "read_query",
    "read_submit",
    "response",
    "write_submit",
]

VERSION: Final = "1.0"
OPERATIONS: Final = ("retrieve", "insert", "update", "delete")
TYPES: Final = ("merged", "persistent", "nonpersistent")
_DATABASE = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}\Z")
_QUERY = frozenset({"scope", "view-attributes", "view-hits", "view-order", "view-template"})
_HEADER = frozenset({"rdm-version", "rdm-type", "rdm-query-language", "catalog-service-id"})
_VERSIONS = frozenset({"", "1", VERSION})
_HITS = re.compile(r"([0-9]{1,9})(?:\s*(?:\.\.|-)\s*([0-9]{1,9}))?\Z")


@dataclass(frozen=True, slots=True)
class RdmQuery:
    """One query.

    Attributes:
        type: ``rd``, ``rd-delete``, ``status``, ...: lower case, without ``-request``.
        csid: catalog service id, sent back.
        language: of the scope; ``search`` is the one of the search page.
        scope: what is asked.
        attributes: lower-case base names wanted, empty = all.
        first, hits: the window, *first* from 1; ``hits`` is -1 where none was asked for.
        order: attributes to sort by, the first counts most, with whether it descends; empty = by relevance.
        urls: of the documents of an rd-delete-request.
        ignored: names of what the message has beside all this.
    """

    type: str
    csid: str = ""
    language: str = "search"
    scope: str = ""
    attributes: tuple[str, ...] = ()
    first: int = 1
    hits: int = -1
    order: tuple[tuple[str, bool], ...] = ()
    urls: tuple[str, ...] = field(default=(), repr=False)
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Submit:
    """One submit request: what is to be done with its documents, (URL, attributes) each.

    Attributes:
        operation: of :data:`OPERATIONS`; ``insert`` adds or replaces, ``update`` merges.
        type: which data, of :data:`TYPES`.
        layer: persistent data's layer, ``import`` or ``editor``.
        database: where inserted descriptions go, ``None`` = where they are.
        source: who owns URLs that are new, ``""`` = as the sites say.
        view: lower-case base names that count, empty = all.
        csid: catalog service id, sent back.
        documents: what it is about.
    """

    operation: str = "insert"
    type: str = "persistent"
    layer: str = "import"
    database: str | None = None
    source: str = ""
    view: tuple[str, ...] = ()
    csid: str = ""
    documents: Sequence[tuple[str, Attributes]] = field(default=(), repr=False)


def names_of(text: str) -> tuple[str, ...]:
    """Return the names of a list with commas or blanks, lower case, each once."""
    return tuple(dict.fromkeys(name for name in re.split(r"[\s,]+", text.lower()) if name))


def database_name(text: str) -> str:
    """Return the name of a database.

    Raises:
        UsageError: it cannot be one.
    """
    name = text.strip().lower()
    if not _DATABASE.match(name):
        raise UsageError(
            f"{text[:80]!r} cannot be the name of a database",
            hint="1 to 64 letters a to z, digits, '_', '.', '-', a letter or digit first",
        )
    return name


def read_query(objects: Sequence[SoifObject]) -> RdmQuery:
    """Read a message whose first object is an ``@RDMHEADER``.

    Raises:
        UsageError: it does not say its type, or a field cannot be read.
    """
    head = objects[0]
    version = head.first("rdm-version").strip()
    if version not in _VERSIONS:
        raise UsageError(f"rdm-version {version[:40]!r} is none that we speak", hint=VERSION)
    kind = "-".join(head.first("rdm-type").lower().split()).removesuffix("-request")
    if not kind:
        raise UsageError("the header has no rdm-type", hint="for example rdm-type{10}: rd-request")
    bodies = [one for one in objects[1:] if one.template == "RDMQUERY"]
    if len(bodies) > 1:
        raise UsageError(
            f"object at byte {bodies[1].offset} is a second @RDMQUERY", hint="send one message a query"
        )
    documents = [one for one in objects[1:] if one.template == "DOCUMENT" and kind == "rd-delete"]
    ignored = [name for name in head.values if name not in _HEADER]
    known = {"RDMQUERY", "DOCUMENT"} if kind == "rd-delete" else {"RDMQUERY"}
    ignored += [f"@{one.template}" for one in objects[1:] if one.template not in known]
    body = bodies[0] if bodies else SoifObject("RDMQUERY", "")
    ignored += [name for name in body.values if name not in _QUERY]
    _check_template(names_of(",".join(body.all("view-template"))))
    first, hits = _window(body.first("view-hits").strip())
    return RdmQuery(
        kind,
        head.first("catalog-service-id")[:512],
        head.first("rdm-query-language", "search").strip().lower(),
        body.first("scope").strip(),
        names_of(",".join(body.all("view-attributes"))),
        first,
        hits,
        _order(",".join(body.all("view-order"))),
        tuple(one.url for one in documents),
        tuple(dict.fromkeys(ignored)),
    )


def _check_template(names: tuple[str, ...]) -> None:
    """Every description is a ``@DOCUMENT``; whoever wants something else is told so."""
    if names and "document" not in names:
        raise UsageError(
            f"view-template {','.join(names)[:40]!r} is none that descriptions have", hint="DOCUMENT"
        )


def _order(text: str) -> tuple[tuple[str, bool], ...]:
    """Read ``author,-last-modified``; ``name desc`` is another way to write the minus."""
    found: dict[str, bool] = {}
    last = ""
    for word in re.split(r"[\s,]+", text.lower()):
        name = word.lstrip("+-")
        if name in {"asc", "desc"} and last:
            found[last] = name == "desc"
        elif name:
            last = name
            found.setdefault(name, word.startswith("-"))
    return tuple(found.items())


def _window(text: str) -> tuple[int, int]:
    if not text:
        return 1, -1
    found = _HITS.match(text)
    if not found:
        raise UsageError(f"view-hits {text[:40]!r} is no window", hint="write 10, or 11..20")
    first, last = (1, int(found[1])) if found[2] is None else (int(found[1]), int(found[2]))
    first = max(first, 1)
    return first, max(0, last - first + 1)


def read_submit(objects: Sequence[SoifObject]) -> Submit:
    """Read a message whose first object is a ``@REQUEST``.

    Raises:
        UsageError: a field has a value that is none, or what follows are not documents.
    """
    head = objects[0]
    operation = _one_of(head, "submit-operation", OPERATIONS, "insert")
    kind = _one_of(head, "submit-type", TYPES, "merged")
    layer = _one_of(head, "submit-layer", ("import", "editor"), "import")
    database = head.first("submit-database").strip()
    foreign = next((one for one in objects[1:] if one.template != "DOCUMENT"), None)
    if foreign is not None:
        raise UsageError(
            f"object at byte {foreign.offset} is @{foreign.template}",
            hint="a submit request has @DOCUMENT objects",
        )
    return Submit(
        operation,
        kind,
        layer,
        database_name(database) if database else None,
        head.first("submit-source").strip(),
        names_of(",".join(head.all("submit-view"))),
        head.first("submit-csid")[:512],
        [(one.url, dict(one.texts())) for one in objects[1:]],
    )


def _one_of(head: SoifObject, name: str, values: Sequence[str], default: str) -> str:
    text = head.first(name, default).strip().lower().replace("non-", "non")
    if text not in values:
        raise UsageError(f"{name} {text[:40]!r} is none that we know", hint=f"one of {', '.join(values)}")
    return text


def write_submit(submit: Submit) -> bytes:
    """Return the request as SOIF."""
    head: dict[str, str] = {
        "submit-operation": submit.operation,
        "submit-type": submit.type,
        "submit-layer": submit.layer,
        "submit-csid": submit.csid,
        "submit-source": submit.source,
        "submit-database": submit.database or "",
        "submit-view": ",".join(submit.view),
    }
    parts = [write_object("REQUEST", "", {name: value for name, value in head.items() if value})]
    parts += [write_object("DOCUMENT", url, attributes) for url, attributes in submit.documents]
    return b"".join(parts)


def response(csid: str, counts: Mapping[str, int], refused: Iterable[str] = ()) -> bytes:
    """Return the ``@RESPONSE`` to a submit request: how many documents ended how, and why some were refused."""
    head: dict[str, str | tuple[str, ...]] = {"submit-csid": csid} if csid else {}
    head.update((f"submit-{name}", str(count)) for name, count in counts.items())
    if said := tuple(refused):
        head["submit-refusal"] = said
    return write_object("RESPONSE", "", head)


def header(kind: str, csid: str = "", **more: str | tuple[str, ...]) -> bytes:
    """Return the ``@RDMHEADER`` of an answer; underscores of names become hyphens."""
    fields: dict[str, str | tuple[str, ...]] = {"rdm-version": VERSION, "rdm-type": kind}
    if csid:
        fields["catalog-service-id"] = csid
    fields.update((name.replace("_", "-"), value) for name, value in more.items() if value)
    return write_object("RDMHEADER", "", fields)
