"""The taxonomy: categories written with colons (``Archive:Chat:January``), kept as SOIF in taxonomy.rdm (section 13).

One object ``@TAXONOMY`` says what the whole is called, then one ``@CLASSIFICATION`` a category: ``id`` (the whole
name), ``parent-id``, ``taxonomy-id``, ``description``, ``matching-rule`` (a query of the index that autoclassify asks).
Attributes that are not ours are kept and written again. A category's parents belong to the taxonomy whether or
not they have objects of their own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ingather.conf.rd.soif import write_object
from ingather.conf.rd.soif_reader import read_soif
from ingather.conf.report import Report
from ingather.model.diagnostic import Place

__all__ = ["Category", "Taxonomy", "ancestors", "category_name", "parse_taxonomy", "write_taxonomy"]

_OURS = frozenset({"id", "parent-id", "taxonomy-id", "description", "matching-rule"})


def category_name(written: str) -> str:
    """Return a category as it is compared: levels without blanks around them; ``""`` if a level is empty."""
    levels = [" ".join(level.split()) for level in written.split(":")]
    return ":".join(levels) if all(levels) else ""


def ancestors(name: str) -> tuple[str, ...]:
    """Return *name* and everything above it, the top first."""
    levels = name.split(":")
    return tuple(":".join(levels[: n + 1]) for n in range(len(levels)))


@dataclass(frozen=True, slots=True)
class Category:
    """One category. *query*: what the index is asked for it, ``""`` = nothing; *more*: attributes kept for others."""

    name: str
    description: str = ""
    query: str = ""
    more: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    offset: int = 0

    @property
    def parent(self) -> str:
        """Name of the category above, ``""`` at the top."""
        return self.name.rpartition(":")[0]


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Categories by name, in the order of the file."""

    categories: Mapping[str, Category] = field(default_factory=lambda: MappingProxyType({}))
    name: str = ""
    description: str = ""
    more: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, categories: Iterable[Category], *, name: str = "", description: str = "") -> "Taxonomy":
        """Return the taxonomy of *categories*; parents without an object of their own are added."""
        found: dict[str, Category] = {}
        for category in categories:
            for above in ancestors(category.name)[:-1]:
                found.setdefault(above, Category(above))
            found[category.name] = category
        return cls(MappingProxyType(found), name, description)

    def __contains__(self, name: object) -> bool:
        return name in self.categories

    def __len__(self) -> int:
        return len(self.categories)

    @property
    def names(self) -> tuple[str, ...]:
        """All names."""
        return tuple(self.categories)

    def children(self, name: str = "") -> tuple[Category, ...]:
        """Return the categories directly below *name*; ``""`` = those at the top."""
        return tuple(c for c in self.categories.values() if c.parent == name)

    def below(self, name: str) -> tuple[Category, ...]:
        """Return *name* and all below it; ``""`` = all."""
        return tuple(
            c for c in self.categories.values() if not name or c.name == name or c.name.startswith(f"{name}:")
        )


def parse_taxonomy(body: bytes, file: str, report: Report, *, charset: str = "utf-8") -> Taxonomy:
    """Read taxonomy.rdm leniently; findings go to *report*, their place is the line of their byte offset."""
    objects, findings = read_soif(body, charset=charset)

    def place(offset: int) -> Place:
        return Place(file, body.count(b"\n", 0, offset) + 1)

    for finding in findings:
        report.add(
            finding.code,
            place(finding.offset),
            f"byte {finding.offset}, object {finding.number}: {finding.text}",
        )
    title = description = ""
    more: dict[str, tuple[str, ...]] = {}
    categories: list[Category] = []
    seen: set[str] = set()
    for found in objects:
        name = category_name(found.first("id"))
        if found.template == "TAXONOMY":
            title, description = found.first("id"), found.first("description")
            more = {k: v for k, v in found.texts().items() if k not in {"id", "description"}}
            continue
        if not name:
            report.add(
                "W-CATEGORY",
                place(found.offset),
                "a category without id, or with an empty level, is left out",
            )
            continue
        if name in seen:
            report.add(
                "W-CATEGORY", place(found.offset), f"category {name!r} is there twice: the last one counts"
            )
        seen.add(name)
        categories.append(
            Category(
                name,
                found.first("description"),
                found.first("matching-rule"),
                MappingProxyType({k: v for k, v in found.texts().items() if k not in _OURS}),
                found.offset,
            )
        )
    whole = Taxonomy.of(categories, name=title, description=description)
    return Taxonomy(whole.categories, title, description, MappingProxyType(more))


def write_taxonomy(taxonomy: Taxonomy) -> bytes:
    """Return taxonomy.rdm; reading it again gives an equal taxonomy, but for offsets."""
    title = taxonomy.name or "taxonomy"
    head: dict[str, str | tuple[str, ...]] = {"id": title}
    if taxonomy.description:
        head["description"] = taxonomy.description
    out = [write_object("TAXONOMY", "-", {**head, **taxonomy.more})]
    for category in taxonomy.categories.values():
        values: dict[str, str | tuple[str, ...]] = {"id": category.name, "taxonomy-id": title}
        if category.parent:
            values["parent-id"] = category.parent
        if category.description:
            values["description"] = category.description
        if category.query:
            values["matching-rule"] = category.query
        out.append(write_object("CLASSIFICATION", "-", {**values, **category.more}))
    return b"\n".join(out)
