"""External metadata of a home as texts: its files, and the switches by which they are read.

A version of the catalog holds the texts of all layers as they apply: a file that may not apply is empty there, one that
goes on in its last good form stands there in that form. So a version is read without knowing the one before it.
"""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ingather.conf.classes import ClassTable
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.model.url import Canonicaliser, canonical
from ingather.overlay import Options, Overlay, overlay_of
from ingather.overlay.layers import Layers
from ingather.robot.indexing.laying import Laying

__all__ = [
    "API",
    "CLOSED",
    "COMMON",
    "FETCHED",
    "NO_LAYERS",
    "SWITCHES",
    "UNHIDDEN",
    "Reader",
    "Switches",
    "Taken",
    "file_of",
    "source_of",
]

FILE_NAME: Final = "external_metadata.cfg"
COMMON: Final = f"config/{FILE_NAME}"
API: Final = "api"
FETCHED: Final = "fetched"
UNHIDDEN: Final = "unhidden"
CLOSED: Final = "closed"
"""Sources whose documents nobody sees: their restrictions were never read without an error."""
SWITCHES: Final = "switches"
NO_LAYERS: Final = frozenset({SWITCHES, UNHIDDEN, CLOSED})


def file_of(source: str) -> str:
    """Return the layer of a source's own file, which is its name in the home; ``""`` = the file of all sources."""
    return f"config/sources/{source}/{FILE_NAME}" if source else COMMON


def source_of(layer: str) -> str:
    """Return the source whose file *layer* is, ``""`` for any other layer."""
    parts = layer.split("/")
    return parts[2] if layer.startswith("config/sources/") and len(parts) == 4 else ""  # noqa: PLR2004 - as in file_of


@dataclass(frozen=True, slots=True)
class Switches:
    """How layers are read and where days end: part of a version, because what applies depends on it.

    ``layers``: for a layer its ``schemeless``, ``strict``, ``acl``; ``classes``: the digest of the metadata classes.
    """

    layers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    folding: tuple[str, ...] = ()
    delimiters: Mapping[str, str] = field(default_factory=dict)
    permissions: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    zone: str = "UTC"
    zones: Mapping[str, str] = field(default_factory=dict)
    classes: str = ""
    schemes: tuple[str, ...] = ()

    def reaches_further(self, other: "Switches") -> bool:
        """Whether documents may differ where no prefix does."""
        return replace(self, layers={}, schemes=()) != replace(other, layers={}, schemes=())

    @classmethod
    def of(cls, settings: Settings, sources: Mapping[str, SourceConf], table: ClassTable) -> "Switches":
        """Return what the settings say."""
        common = {
            "schemeless": settings.text("overlay.schemeless"),
            "strict": settings.flag("overlay.strict"),
            "acl": "none",
        }
        layers: dict[str, Mapping[str, Any]] = {COMMON: common}
        for name, source in sources.items():
            layers[file_of(name)] = {
                **common,
                "schemeless": source.overlay_schemeless or common["schemeless"],
                "acl": source.acl_overlay,
            }
        return cls(
            layers,
            settings.words("overlay.case-insensitive-hosts"),
            table.delimiters(),
            tuple(sorted(table.permissions)),
            settings.words("urls.drop-parameters"),
            settings.text("overlay.time-zone"),
            {name: source.time_zone for name, source in sources.items() if source.time_zone},
            table.digest(),
            tuple(sorted({name.lower() for name in settings.words("overlay.schemes")})),
        )

    @classmethod
    def read(cls, text: bytes) -> "Switches":
        """Return what :meth:`text` wrote; nothing was written = the defaults."""
        if not text:
            return cls()
        kept = json.loads(text)
        for name in ("folding", "permissions", "drop", "schemes"):
            kept[name] = tuple(kept.get(name, ()))  # versions of before have no schemes
        return cls(**kept)

    def text(self) -> bytes:
        """Return it as a version keeps it."""
        parts = {name: getattr(self, name) for name in self.__slots__}
        return json.dumps(parts, sort_keys=True, ensure_ascii=False).encode()

    def options(self, layer: str, on_error: str) -> Options:
        """Return how *layer* is read."""
        own = self.layers.get(layer, {})
        return Options(
            on_error=on_error,  # type: ignore[arg-type]
            strict=bool(own.get("strict")),
            schemeless=own.get("schemeless", "http"),
            schemes=frozenset({"http", "https", *self.schemes}),
            case_insensitive_hosts=frozenset(self.folding),
            delimiters=dict(self.delimiters),
            permission_classes=frozenset(self.permissions),
            acl_overlay=own.get("acl", "none"),
            canonical=_canonical(self.drop),
        )


_CANONICALS: dict[tuple[str, ...], Any] = {}


def _canonical(drop: tuple[str, ...]) -> Any:
    """Return one function for one set of parameters: a layer that was read is known by its options."""
    if not drop:
        return canonical
    if drop not in _CANONICALS:
        _CANONICALS[drop] = _Own(drop)
    return _CANONICALS[drop]


class _Own:
    """Canonical URLs by parameters of one's own; any thread may ask."""

    drops_only = True
    """What differs from the usual function is which parameters are dropped: a plain path is the same to both."""

    def __init__(self, drop: tuple[str, ...]) -> None:
        self._drop = drop
        self._own = threading.local()

    def __call__(self, url: str) -> str:
        made: Canonicaliser | None = getattr(self._own, "made", None)
        if made is None:
            made = self._own.made = Canonicaliser(self._drop)
        return made.canonical(url)


@dataclass(frozen=True, slots=True)
class Taken:
    """What a file came to.

    Attributes:
        text: as it applies.
        overlay: the file as it was read, with its findings.
        state: ``ok``, ``ignored``, ``kept`` (the last good version goes on), ``partly`` (bad lines left out) or
            ``refused`` (nothing of all files would come into force).
    """

    text: bytes
    overlay: Overlay
    state: str

    @property
    def errors(self) -> int:
        """How many."""
        return self.overlay.counts.errors


class Reader:
    """Reads layers, each text once; one thread at a time."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bytes, str], Overlay] = {}

    def take(  # noqa: PLR0913, PLR0917 - one file and how it is judged
        self,
        layer: str,
        body: bytes,
        switches: Switches,
        on_error: str,
        good: bytes | None,
        size: int | None = None,
        *,
        name: str = "",
    ) -> Taken:
        """Read a file that is new.

        Args:
            layer: its name.
            body: its bytes.
            switches: how.
            on_error: what a bad line does.
            good: what applied before, ``None`` = nothing was good yet.
            size: of a file beyond the limit, of which *body* is not the whole.
            name: the file's own name in findings, when it does not stand where the layer does.

        Raises:
            ConfigurationError: it has an error and *on_error* is ``fail``.
        """
        options = switches.options(layer, on_error)
        overlay = overlay_of(body, name or layer, options, size=size)
        if not overlay.counts.errors:
            return Taken(body, overlay, "ok")
        if on_error == "keep_last_good":
            return Taken(good or b"", overlay, "kept")
        if on_error == "skip_line" and overlay.counts.records:
            return Taken(body, overlay, "partly")
        return Taken(b"", overlay, "ignored")

    def layers(self, texts: Mapping[str, bytes], switches: Switches) -> dict[str, Overlay]:
        """Return the layers of a version."""
        fresh: dict[tuple[str, bytes, str], Overlay] = {}
        found: dict[str, Overlay] = {}
        for layer, body in texts.items():
            if layer in NO_LAYERS or not body:
                continue
            how = "keep_last_good" if switches.layers.get(layer, {}).get("acl") == "restrict" else "skip_line"
            options = switches.options(layer, how)
            key = (layer, body, repr(options))
            overlay = self._known.get(key)
            found[layer] = fresh[key] = overlay if overlay is not None else overlay_of(body, layer, options)
        self._known = {**self._known, **fresh} if len(self._known) < 2 * len(fresh) + 4 else fresh
        return found

    def laying(
        self,
        texts: Mapping[str, bytes],
        table: ClassTable,
        version: int,
        closed: frozenset[str] = frozenset(),
    ) -> tuple[Laying, dict[str, Overlay]]:
        """Return a version as it is laid over documents, and its layers."""
        switches = Switches.read(texts.get(SWITCHES, b""))
        layers = self.layers(texts, switches)
        beside = [layers[name] for name in (COMMON, API) if name in layers]
        beside += [overlay for name, overlay in layers.items() if name.startswith(FETCHED)]
        permission = frozenset(switches.permissions)
        stacks = {
            source: Layers([overlay, *beside], permission=permission)
            for name, overlay in layers.items()
            if (source := source_of(name))
        }
        closed = frozenset(texts.get(CLOSED, b"").decode().split())
        unhidden = frozenset(texts.get(UNHIDDEN, b"").decode().split())
        laying = Laying(
            table, stacks, Layers(beside, permission=permission), zones=switches.zones, zone=switches.zone,
            unhidden=unhidden, version=version, closed=closed,
        )  # fmt: skip
        return laying, layers
