"""What RDM says about this server: status, server, schema and taxonomy (specification 12.2)."""

from typing import Final

from ingather.catalog.descriptions.sqlite_description_reader import DescriptionReader
from ingather.conf.rd.rdm import VERSION
from ingather.conf.rd.rdschema import RdSchema
from ingather.conf.rd.soif import write_object
from ingather.conf.rd.taxonomy import Taxonomy, ancestors, category_name, write_taxonomy
from ingather.errors import UsageError

__all__ = ["REQUESTS", "schema_objects", "server_object", "status_object", "taxonomy_objects"]

REQUESTS: Final = (
    "rd-request", "rd-update-request", "rd-delete-request", "status-request", "server-description-request",
    "schema-description-request", "taxonomy-description-request",
)  # fmt: skip
"""Every ``rdm-type`` that is answered."""
_ALL: Final = frozenset({"", "*"})


def status_object(reader: DescriptionReader) -> bytes:
    """Return how many descriptions there are, and where."""
    databases = reader.databases()
    return write_object(
        "RDMSTATUS",
        "",
        {
            "status": "ok",
            "rd-count": str(sum(databases.values())),
            "change": str(reader.last_sequence()),
            "database": [f"{name} {count}" for name, count in databases.items()],
        },
    )


def server_object(address: str) -> bytes:
    """Return what the server at *address* speaks."""
    fields: dict[str, str | tuple[str, ...]] = {
        "server-name": "Ingather", "rdm-version": VERSION, "rdm-query-language": "search", "rdm-type": REQUESTS,
    }  # fmt: skip
    return write_object("RDMSERVER", address, fields)


def schema_objects(schema: RdSchema, scope: str) -> bytes:
    """Return the attributes that *scope* names: ``DOCUMENT`` or nothing = all, else one by its name or an alias.

    Raises:
        UsageError: the schema has no such attribute.
    """
    wanted = scope.lower()
    if wanted in _ALL or wanted == "document":
        chosen = list(schema.attributes.values())
    else:
        one = schema.attributes.get(schema.aliases.get(wanted, wanted))
        if one is None:
            raise UsageError(
                f"the schema has no attribute {scope[:80]!r}", hint="without a scope all are given"
            )
        chosen = [one]
    written = []
    for one in chosen:
        fields: dict[str, str | tuple[str, ...]] = {
            "name": one.name,
            "description": one.description,
            "aliases": one.aliases,
            "editable": str(one.editable).lower(),
            "indexable": str(one.indexable).lower(),
            "score-multiplier": str(one.score),
            "data-type": one.type.value,
            "multi-valued": str(one.multi).lower(),
        }
        written.append(
            write_object("RDMSCHEMA", "", {name: value for name, value in fields.items() if value})
        )
    return b"".join(written)


def taxonomy_objects(taxonomy: Taxonomy, scope: str) -> bytes:
    """Return the taxonomy, or the category *scope* with what is above and below it.

    Raises:
        UsageError: there is no such category.
    """
    if scope in _ALL:
        return write_taxonomy(taxonomy)
    top = category_name(scope)
    if top not in taxonomy:
        raise UsageError(f"the taxonomy has no category {scope[:80]!r}", hint="without a scope all are given")
    names = dict.fromkeys(ancestors(top)) | dict.fromkeys(one.name for one in taxonomy.below(top))
    part = {name: taxonomy.categories[name] for name in names}
    return write_taxonomy(Taxonomy(part, taxonomy.name, taxonomy.description, taxonomy.more))
