"""A configuration folder, whole: all files read, all findings at once, nothing raised for bad content."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingather.conf.collector import collector_rests
from ingather.conf.files import Files, exists
from ingather.conf.filters.builtins import BUILTIN
from ingather.conf.filters.directives import DirectiveReader
from ingather.conf.filters.filterconf import GRAMMAR, Filter, FilterReader
from ingather.conf.filters.vocabulary import Vocabulary
from ingather.conf.mime import MimeMap, parse_mime
from ingather.conf.names import few
from ingather.conf.policyacl import PolicyAcl
from ingather.conf.rd.classification import Classification, parse_classification
from ingather.conf.rd.rdschema import RdSchema, read_schema, shipped_schema
from ingather.conf.rd.taxonomy import Taxonomy, parse_taxonomy
from ingather.conf.report import Report
from ingather.conf.robot.robotconf import RobotConf, parse_robot_document, read_robot
from ingather.conf.sites.rules import Rules, Site
from ingather.conf.sites.rulesconf import parse_rules
from ingather.conf.text.blocks import parse_blocks
from ingather.conf.text.physical import decode, is_binary
from ingather.conf.text.tree import Document
from ingather.conf.urlpatterns.gates import DONOTFOLLOW, FOLLOW, NO_GATES, SOURCES, Gates, read_gates
from ingather.model.diagnostic import Diagnostic, Place

__all__ = ["Loaded", "StartingPoint", "load", "load_bodies"]

_POLICY = "policy-acl.txt"
_ROBOT_NAMES = ("robot.conf", "process.conf")


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """Where a robot begins: canonical URL, depth limit (-1 = none), site and source it belongs to."""

    url: str
    depth: int
    site: str = ""
    source: str = "web"
    where: str = ""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration, or why it is none.

    Attributes:
        directory: the folder, ``None`` when it came from kept bytes.
        diagnostics: the findings, warnings too, by file and line; at most 1,000 errors and 1,000 warnings.
        robot: values of robot.conf with their origins.
        filters: filters by name.
        rules: rules of the enumeration filter, else of filterrules.conf beside it.
        mime: MIME map of the enumeration filter, else mime.types beside it.
        classification: classification.conf beside it, with the taxonomy of taxonomy.rdm.
        gates: the URL patterns of follow.txt and donotfollow.txt, global and of each source.
        policy: the rules of policy-acl.txt, ``None`` = there is no such file.
        rd_schema: of rd-schema.conf, the shipped one if there is no such file.
        vocabulary: the functions that its filters may call; for loading another version of it.
        files: name -> SHA-256 of every file that was read.
        bodies: name -> bytes of every file that was read, enough to load the same again.
        errors, warnings: how many findings there are, those beyond the first thousands included.
    """

    directory: Path | None
    diagnostics: tuple[Diagnostic, ...]
    robot: RobotConf
    filters: Mapping[str, Filter]
    rules: Rules
    mime: MimeMap
    files: Mapping[str, str] = field(default_factory=dict)
    bodies: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    documents: Mapping[str, Document] = field(default_factory=dict, repr=False)
    errors: int = 0
    warnings: int = 0

    classification: Classification = field(default_factory=Classification)
    gates: Gates = NO_GATES
    policy: PolicyAcl | None = None
    rd_schema: RdSchema = field(default_factory=shipped_schema, repr=False)
    vocabulary: Vocabulary = field(default=BUILTIN, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether it may be used: no finding is an error."""
        return self.errors == 0

    @property
    def digest(self) -> str:
        """One digest over all files: two configurations with the same digest are the same."""
        lines = "".join(f"{name}\0{digest}\n" for name, digest in sorted(self.files.items()))
        return hashlib.sha256(lines.encode()).hexdigest()

    @property
    def enumeration(self) -> Filter | None:
        """The selected enumeration filter."""
        return self.filters.get(self.robot.enumeration_filter)

    @property
    def generation(self) -> Filter | None:
        """The selected generation filter."""
        return self.filters.get(self.robot.generation_filter)

    @property
    def starting_points(self) -> tuple[StartingPoint, ...]:
        """Starting points of all enabled sites, then those of robot.conf; the first of a URL counts."""
        found: dict[str, StartingPoint] = {}
        default = self.robot.depth
        for site in self.rules.sites:
            if not site.enabled:
                continue
            for start in site.starts:
                depth = next(d for d in (start.depth, site.depth, default) if d is not None)
                where = f"{start.place.file}:{start.place.line}" if start.place else ""
                found.setdefault(start.url, StartingPoint(start.url, depth, site.name, site.source, where))
        for seed in self.robot.starts:
            depth = default if seed.depth is None else seed.depth
            where = f"{seed.place.file}:{seed.place.line}"
            found.setdefault(seed.url, StartingPoint(seed.url, depth, where=where))
        return tuple(found.values())

    def with_sites(self, sites: Iterable[Site]) -> "Loaded":
        """Return this configuration with *sites* added, in all its filters, for one run."""
        added = tuple(sites)
        changed: dict[int, Rules] = {}

        def extend(rules: Rules) -> Rules:
            # Filters that share their rules go on sharing them.
            return changed.setdefault(id(rules), rules.with_sites(added))

        filters = {name: replace(f, rules=extend(f.rules)) for name, f in self.filters.items()}
        return replace(self, filters=filters, rules=extend(self.rules))


def load(directory: str | Path, *, vocabulary: Vocabulary = BUILTIN, strict: bool = False) -> Loaded:
    """Read the configuration in *directory* (a ``config`` folder, or the folder that holds one).

    Bad content, missing and unreadable files are diagnostics of the result, never exceptions.

    Args:
        directory: where robot.conf, filter.conf, filterrules.conf and mime.types lie.
        vocabulary: the functions that filters may call.
        strict: what the lexer tolerates is an error; robot.conf's ``strict`` says the same.
    """
    path = Path(directory)
    if not any(exists(path / name) for name in ("filter.conf", *_ROBOT_NAMES)) and (path / "config").is_dir():
        path /= "config"
    return _Loading(Files(path), vocabulary, strict=strict).run(path)


def load_bodies(
    bodies: Mapping[str, bytes], *, vocabulary: Vocabulary = BUILTIN, strict: bool = False
) -> Loaded:
    """Load again what :attr:`Loaded.bodies` kept, without touching the disk."""
    return _Loading(Files(None, bodies), vocabulary, strict=strict).run(None)


class _Loading:
    """Reads file after file; a file that is named twice is read and reported once."""

    def __init__(self, files: Files, vocabulary: Vocabulary, *, strict: bool = False) -> None:
        self.files = files
        self.vocabulary = vocabulary
        self.report = Report(strict=strict)
        self.documents: dict[str, Document] = {}
        self._rules: dict[str, Rules] = {}
        self._mime: dict[str, MimeMap] = {}
        self.robot = RobotConf({})

    def run(self, directory: Path | None) -> Loaded:
        with collector_rests():
            return self._run(directory)

    def _run(self, directory: Path | None) -> Loaded:
        self.robot = self._robot()
        filters = self._filters()
        enumeration = filters.get(self.robot.enumeration_filter)
        rules = enumeration.rules if enumeration and enumeration.rules.file else None
        mime = enumeration.mime if enumeration and len(enumeration.mime) else None
        if rules is None:
            rules = self._beside_rules()
        if mime is None:
            mime = self._beside_mime()
        classification = self._classification()
        gates, policy = self._gates(), self._policy()
        schema = read_schema(self.files, self.report)
        loaded = Loaded(
            directory,
            (),
            self.robot,
            filters,
            rules,
            mime,
            self.files.digests(),
            dict(self.files.bodies),
            self.documents,
            classification=classification,
            gates=gates,
            policy=policy,
            rd_schema=schema,
            vocabulary=self.vocabulary,
        )
        self._starts(loaded)
        return replace(
            loaded,
            diagnostics=self.report.sorted(),
            errors=self.report.errors,
            warnings=self.report.warnings,
        )

    def _text(self, name: str) -> str | None:
        """Return the text of a file, ``None`` after reporting why it cannot be read."""
        try:
            body = self.files.read(name)
        except OSError as error:
            self.report.add("E-FILE", Place(name, 1), f"cannot read {name}: {error.strerror or error}")
            return None
        return None if is_binary(body, name, self.report) else decode(body, name, self.report)

    def _robot(self) -> RobotConf:
        present = [name for name in _ROBOT_NAMES if self.files.exists(name)]
        name = present[0] if present else None
        for other in present[1:]:
            self.report.add(
                "W-NOT-READ", Place(other, 1), f"{name} is read, {other} beside it is not",
                hint="keep one of the two",
            )  # fmt: skip
        text = self._text(name) if name else None
        if name is None or text is None:
            return read_robot(Document("robot.conf"), self.report)
        # Strictness is a parameter of the very file that is being read: look first, then report.
        if "strict" in text.lower():
            self.report.strict |= read_robot(parse_robot_document(text, name, Report()), Report()).strict
        document = self.documents[name] = parse_robot_document(text, name, self.report)
        return read_robot(document, self.report)

    def _filters(self) -> Mapping[str, Filter]:
        text = self._text("filter.conf")
        if text is None:
            return {}
        document = self.documents["filter.conf"] = parse_blocks(text, "filter.conf", GRAMMAR, self.report)
        selected = {
            "enumeration-filter": self.robot.enumeration_filter,
            "generation-filter": self.robot.generation_filter,
        }
        reader = DirectiveReader(
            self.vocabulary,
            load_rules=self._load_rules,
            load_mime=self._load_mime,
            dialect=self.robot.regex_dialect,
            bindir=str(self.robot.bindir or ""),
        )
        filters = FilterReader(reader, self.report, frozenset(selected.values())).read(document)
        for parameter, name in selected.items():
            if name in filters:
                continue
            place = self.robot.places.get(parameter) or Place("filter.conf", 1)
            self.report.add(
                "E-FILTER-UNDEF",
                place,
                f"{parameter}={name}: filter.conf defines no such filter (defined: {few(filters)})",
                hint=self.report.suggest(name, filters),
            )
        return filters

    def _reference(self, reference: str, place: Place) -> tuple[str, str | None]:
        name = self.files.find(reference)
        try:
            body = self.files.read(name)
        except OSError as error:
            self.report.add("E-FILE", place, f"cannot read {reference}: {error.strerror or error}")
            return name, None
        return name, None if is_binary(body, name, self.report) else decode(body, name, self.report)

    def _load_rules(self, reference: str, place: Place) -> Rules | None:
        name = self.files.find(reference)
        if name not in self._rules:
            name, text = self._reference(reference, place)
            if text is None:
                return None
            self._rules[name] = parse_rules(text, name, self.report, dialect=self.robot.regex_dialect)
        return self._rules[name]

    def _load_mime(self, reference: str, place: Place) -> MimeMap | None:
        name = self.files.find(reference)
        if name not in self._mime:
            name, text = self._reference(reference, place)
            if text is None:
                return None
            self._mime[name] = parse_mime(text, name, self.report)
        return self._mime[name]

    def _beside_rules(self) -> Rules:
        name = "filterrules.conf"
        return (self._load_rules(name, Place(name, 1)) if self.files.exists(name) else None) or Rules()

    def _beside_mime(self) -> MimeMap:
        name = "mime.types"
        return (self._load_mime(name, Place(name, 1)) if self.files.exists(name) else None) or MimeMap()

    def _classification(self) -> Classification:
        """Read classification.conf and the taxonomy; both may be missing."""
        taxonomy: Taxonomy | None = None
        name = "taxonomy.rdm"
        if self.files.exists(name):
            try:
                taxonomy = parse_taxonomy(self.files.read(name), name, self.report)
            except OSError as error:
                self.report.add("E-FILE", Place(name, 1), f"cannot read {name}: {error.strerror or error}")
        name = "classification.conf"
        text = self._text(name) if self.files.exists(name) else None
        if text is None:
            return Classification(taxonomy=taxonomy or Taxonomy())
        found, self.documents[name] = parse_classification(
            text, name, self.report, taxonomy=taxonomy, dialect=self.robot.regex_dialect
        )
        return found

    def _gates(self) -> Gates:
        """Read the lists of URL patterns; a list that is not there is no gate."""
        try:
            names = self.files.matching(
                FOLLOW, DONOTFOLLOW, f"{SOURCES}/*/{FOLLOW}", f"{SOURCES}/*/{DONOTFOLLOW}"
            )
        except OSError as error:
            where = Place(SOURCES, 1)
            self.report.add("E-FILE", where, f"cannot list {SOURCES}: {error.strerror or error}")
            return NO_GATES
        return read_gates(names, self._text, self.report.take)

    def _policy(self) -> PolicyAcl | None:
        if not self.files.matching(_POLICY):
            return None
        policy, said = PolicyAcl.parse(self._text(_POLICY) or "", _POLICY)
        for diagnostic in said:
            self.report.take(diagnostic)
        return policy

    def _starts(self, loaded: Loaded) -> None:
        """Warn of starting points that no enabled site covers: they would be denied at once."""
        for site in loaded.rules.sites:
            for start in site.starts:
                if site.enabled and start.place and not site.covers(start.url):
                    self.report.add(
                        "W-START",
                        start.place,
                        f"{start.url} does not belong to site {site.name!r}",
                        hint="it is judged by the site that it does belong to",
                    )
        for seed in self.robot.starts:
            if not any(site.enabled and site.covers(seed.url) for site in loaded.rules.sites):
                self.report.add(
                    "W-START",
                    seed.place,
                    f"no enabled site covers {seed.url}: it will be denied",
                    hint="define a <Site> for its host in filterrules.conf",
                )
