"""``[source.NAME]``: its keys, and how a table of ``ingather.toml`` becomes a :class:`SourceConf`."""

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec

from ingather.conf.names import suggestion
from ingather.conf.report import Report
from ingather.conf.settings.kinds import Kind, Setting, Value
from ingather.conf.sources.cron import parse_cron
from ingather.conf.sources.reach import REACH_KEYS, ReachConf, reach_field, reach_trouble, reach_value
from ingather.conf.sources.revisits import (
    REVISIT_KEYS,
    RevisitConf,
    check_revisits,
    revisit_field,
    revisit_value,
)
from ingather.conf.sources.source import SourceConf, common_field, is_source_name
from ingather.conf.sources.syndication import SYNDICATION_KEYS, SyndicationConf, check, converted, field_of
from ingather.conf.sources.values import address_range, host, own_host, port, reader
from ingather.conf.sources.weekspans import parse_delay, parse_span
from ingather.errors import UnitError
from ingather.model.diagnostic import Place

__all__ = [
    "COMMON_KEYS",
    "SOURCE_KEYS",
    "check_references",
    "read_source",
]

_AGENT = re.compile(r"[ -~]{0,256}\Z")
_NEVER = tuple(
    ipaddress.ip_network(text)
    for text in ("169.254.0.0/16", "fe80::/10", "224.0.0.0/4", "ff00::/8", "fd00:ec2::254")
)
"""Link-local, multicast and metadata addresses: the egress gate refuses them whatever stands here."""

_INTERVALS = frozenset({"min_poll_interval", "max_poll_interval", "error_backoff", "error_backoff_max"})
"""Settings of feeds that are checked against each other; they keep their defaults together."""

Reader = Callable[[str], str]
_TIMES: Mapping[str, Callable[[str], object]] = {
    "schedule": parse_cron,
    "windows": parse_span,
    "delays": parse_delay,
}


_DEFAULT = SourceConf()

COMMON_KEYS: tuple[Setting, ...] = (
    Setting("source", "kind", Kind.CHOICE, "site",
            "How it is gathered. site: crawled from starting points; rss, sitemap: its feeds or sitemaps say what is new and changed.",
            choices=("site", "rss", "sitemap")),
    Setting("source", "hosts", Kind.WORDS, _DEFAULT.hosts,
            'Hosts that belong to it: "intranet.example", ".example" with all subdomains, "*": any.'),
    Setting("source", "ports", Kind.WORDS, (), "Ports that may be asked; none written: any but our own."),
    Setting("source", "addresses", Kind.WORDS, (),
            'Address ranges that may be asked although they are private: "10.0.0.0/8". Not written: none; of what feeds push, the senders that are trusted.'),
    Setting("source", "access", Kind.CHOICE, "public",
            "Who sees its documents that have no ACL: public: everybody; secure: nobody.", choices=("public", "secure")),
    Setting("source", "acl", Kind.WORDS, (),
            'Who sees its documents that have no ACL of their own and that no policy rule names: "user:ann", "group:staff". None written: as access says.'),
    Setting("source", "own-hosts", Kind.WORDS, (),
            'Hosts without delay between requests, because they are yours: "intranet.example", "localhost:8000".'),
    Setting("source", "delay", Kind.SECONDS, 1.0,
            "Delay between two requests to a host. Not written: robot.conf's server-delay.", low=0.001),
    Setting("source", "schemes", Kind.WORDS, ("http", "https"), "Schemes of its URLs. file needs roots, too.",
            choices=("http", "https", "ftp", "ftps", "sftp", "file", "smb")),
    Setting("source", "verify-tls", Kind.FLAG, default=True, help="Whether certificates are checked. false is logged at each start."),
    Setting("source", "user-agent", Kind.TEXT, "",
            "What is sent as User-Agent to its hosts. Not written: robot.conf's user-agent, which also picks the rules of robots.txt."),
    Setting("source", "deletion-share", Kind.SHARE, 0.10, "Not written: deletion.share; 10% for kinds rss and sitemap.", live=True),
    Setting("source", "deletion-documents", Kind.INT, 100, "Not written: deletion.documents; 20 for kinds rss and sitemap.", live=True, low=0),
    Setting("source", "deletion-half-share", Kind.SHARE, 0.5, "Not written: deletion.half-share.", live=True),
    Setting("source", "deletion-half-floor", Kind.INT, 10, "Not written: deletion.half-floor.", live=True, low=1),
    Setting("source", "deletion-confirm-after", Kind.SECONDS, 3600.0,
            "Not written: deletion.confirm-after, or 1m for what feeds push if that is not written either.", live=True),
    Setting("source", "deletion-confirm-looks", Kind.INT, 2,
            "Not written: deletion.confirm-looks.", live=True, low=1, high=8),
    Setting("source", "deletion-cool-down", Kind.SECONDS, 86_400.0, "Not written: deletion.cool-down.", live=True, high=30 * 86_400.0),
    Setting("source", "deletion-rd-lifetime", Kind.SECONDS, 90 * 86_400.0,
            "Not written: deletion.rd-lifetime. Kinds rss and sitemap go by max-index-age instead.", live=True),
    Setting("source", "held-shown", Kind.FLAG, default=True,
            help="Not written: deletion.held-shown, or held-shown-secure when access is secure.", live=True),
    Setting("source", "host-urls", Kind.INT, 100_000, "Not written: limits.host-urls.", low=0),
    Setting("source", "prefix-urls", Kind.INT, 50_000, "Not written: limits.prefix-urls.", low=0),
    Setting("source", "path-queries", Kind.INT, 500, "Not written: limits.path-queries.", low=0),
    Setting("source", "acl-empty-is-none", Kind.FLAG, default=False,
            help="Whether an explicit empty ACL that is pushed counts as none, as on an appliance. Else nobody sees the document."),
    Setting("source", "acl-one-value-per-meta", Kind.FLAG, default=False,
            help="Whether a comma in a permit of a pushed ACL meta (google:aclusers) is part of the name. Else lists of logins are split, too."),
    Setting("source", "takes-over", Kind.FLAG, default=True,
            help="Whether feeds that are pushed for it may take, change and delete documents that belong to other sources. Else such records "
            "are rejected. Not written: those of trusted senders may; with a token both sources must say true."),
    Setting("source", "taken-over", Kind.FLAG, default=True,
            help="Whether feeds of other sources may take, change and delete its documents. Else such records are rejected. Not written: those "
            "of trusted senders may; with a token both sources must say true."),
    Setting("source", "acls-inherited", Kind.FLAG, default=False,
            help="Whether ACLs of other sources may inherit from its ACLs as from their own. Else, where a token brought one of both, both must permit."),
    Setting("source", "follow-fed-links", Kind.FLAG, default=True,
            help="Whether links in contents that are pushed for it are followed. false: only what is pushed is kept."),
    Setting("source", "follow-patterns", Kind.FLAG, default=False, help="Not written: feeds.follow-patterns."),
    Setting("source", "crawl-time-headers", Kind.FLAG, default=False,
            help="Whether X-Gsa headers of its hosts count in full: metadata, links, and what opens a document. Else only what closes one does. Not written: true for what feeds push."),
    Setting("source", "overlay-on-error", Kind.CHOICE, "ignore_file", "Not written: overlay.on-error.",
            choices=("ignore_file", "keep_last_good", "skip_line", "fail")),
    Setting("source", "overlay-schemeless", Kind.CHOICE, "http", "Not written: overlay.schemeless.", choices=("http", "any")),
    Setting("source", "time-zone", Kind.TEXT, "UTC", "Not written: overlay.time-zone."),
    Setting("source", "acl-overlay", Kind.CHOICE, "none",
            "restrict: classes of type permission in its external_metadata.cfg narrow who sees its documents. It needs "
            "overlay-on-error keep_last_good or fail.", choices=("none", "restrict")),
    Setting("source", "schedule", Kind.WORDS, (),
            'When a run of it begins by itself, in which all of it is visited again: cron expressions in its time-zone, "30 2 * * mon-fri". '
            "Beside that pages are looked at when they are due."),
    Setting("source", "windows", Kind.WORDS, (),
            'When its hosts may be asked, in its time-zone: "22:00-06:00", "sat,sun"; none written: always.'),
    Setting("source", "delays", Kind.WORDS, (),
            'Longer delays by time of day, in its time-zone: "mon-fri 08:00-18:00=5s".'),
)  # fmt: skip

SOURCE_KEYS: tuple[Setting, ...] = (*COMMON_KEYS, *REVISIT_KEYS, *REACH_KEYS, *SYNDICATION_KEYS)

_BY_KEY = {setting.key: setting for setting in SOURCE_KEYS}
_FIELDS = {setting.key: common_field(setting.key) for setting in COMMON_KEYS}


def read_source(
    name: str, table: Mapping[str, object], place_of: Callable[[str], Place], report: Report
) -> SourceConf:
    """Read one ``[source.NAME]`` table; what is wrong is reported and keeps its default.

    Args:
        name: of the table.
        table: its keys as TOML gave them.
        place_of: key (``""`` = the table itself) to its place.
        report: where findings go.
    """
    if not is_source_name(name):
        report.add(
            "E-VALUE",
            place_of(""),
            f"{name!r} is not a name for a source",
            hint="letters, digits, - and _, at most 200; case does not matter",
        )
    values: dict[str, object] = {}
    own: dict[str, object] = {}
    reach: dict[str, object] = {}
    revisits: dict[str, object] = {}
    origins: dict[str, str] = {}
    for key, raw in table.items():
        place = place_of(key)
        setting = _BY_KEY.get(key)
        if setting is None:
            report.add("E-KEY", place, f"a source has no key {key!r}", hint=suggestion(key, _BY_KEY))
            continue
        try:
            value = setting.read(_texts(key, raw))
            for field_, into, read in (
                (field_of(key), own, converted),
                (reach_field(key), reach, reach_value),
                (revisit_field(key), revisits, revisit_value),
                (_FIELDS.get(key, ""), values, _converted),
            ):
                if field_:
                    into[field_] = read(key, value)
                    break
        except UnitError as error:
            hint = error.hint
            if key == "delay" and raw in {0, "0", "0s"}:
                hint = "no delay is for hosts of your own: name them in own-hosts"
            report.add("E-VALUE", place, f"source.{name}.{key}: {error.text}", hint=hint)
            continue
        origins[key] = f"{place.file}:{place.line}"
        if key == "addresses":
            _warn_of_ranges(values[_FIELDS[key]], place, report)
    for field_, wrong in check(own).items():
        report.add("E-VALUE", place_of(field_.replace("_", "-")), f"source.{name}: {wrong}")
        own = {key: value for key, value in own.items() if key not in _INTERVALS}
    source = SourceConf(
        name=name, origins=origins, syndication=SyndicationConf(**own), reach=ReachConf(**reach),  # type: ignore[arg-type]
        revisits=_revisits(name, revisits, place_of, report), **values  # type: ignore[arg-type]
    )  # fmt: skip
    _warn_of_kind(source, own, table, place_of, report)
    return source


def _revisits(
    name: str, values: Mapping[str, object], place_of: Callable[[str], Place], report: Report
) -> RevisitConf:
    for key, wrong in check_revisits(RevisitConf(**values)).items():  # type: ignore[arg-type]
        report.add("E-VALUE", place_of(key), f"source.{name}: {wrong}")
        values = {field_: value for field_, value in values.items() if not field_.startswith("recheck")}
    return RevisitConf(**values)  # type: ignore[arg-type]


def _warn_of_kind(
    source: SourceConf,
    own: Mapping[str, object],
    written: Mapping[str, object],
    place_of: Callable[[str], Place],
    report: Report,
) -> None:
    if "smb" in source.schemes and find_spec("smbprotocol") is None:
        text = f"source.{source.name}.schemes: what speaks SMB is not installed"
        report.add("E-VALUE", place_of("schemes"), text, hint="pip install 'ingather[smb]'")
    for key, what in reach_trouble(source.reach, source.schemes):
        report.add("W-NO-EFFECT", place_of(key), f"source.{source.name}.{key} has no effect: {what}")
    if not source.syndicates:
        for name in own:
            key = name.replace("_", "-")
            report.add(
                "W-NO-EFFECT",
                place_of(key),
                f"source.{source.name}.{key} has no effect with kind {source.kind!r}",
                hint='it belongs to kind = "rss" and "sitemap"',
            )
    elif "feeds" not in written and source.syndication.enable_indexer:
        report.add(
            "W-NO-EFFECT",
            place_of(""),
            f"source {source.name} has no feeds",
            hint='write feeds = ["https://..."]',
        )


def check_references(
    used: Iterable[tuple[str, Place | None]], sources: Mapping[str, SourceConf], report: Report
) -> None:
    """Report (``E-SOURCE``) each name in *used* that is no source; *used* has names with their places."""
    for name, place in used:
        if name not in sources:
            report.add(
                "E-SOURCE",
                place or Place("filterrules.conf", 1),
                f"there is no source {name!r}",
                hint=suggestion(name, sources) or f"write [source.{name}] in ingather.toml",
            )


def _texts(key: str, raw: object) -> object:
    """Ports may be written as numbers."""
    if key == "ports" and isinstance(raw, list):
        return [str(port) if isinstance(port, int) and not isinstance(port, bool) else port for port in raw]
    return raw


def _converted(key: str, value: Value) -> object:
    if key == "user-agent" and not _AGENT.match(str(value)):
        raise UnitError(f"{value!r} cannot be sent as a User-Agent", hint="ASCII, one line, at most 256")
    if not isinstance(value, tuple) or key in _TIMES:
        for text in value if isinstance(value, tuple) else ():
            _TIMES[key](text)  # it is kept as written, and read again where it counts
        return value
    if key == "ports":
        return frozenset(port(text) for text in value)
    read = {"hosts": host, "acl": reader, "own-hosts": own_host, "addresses": address_range}.get(key)
    return frozenset(value) if read is None else tuple(read(text) for text in value)


def _warn_of_ranges(ranges: object, place: Place, report: Report) -> None:
    for text in ranges if isinstance(ranges, tuple) else ():
        network = ipaddress.ip_network(text)
        if any(network.version == never.version and network.subnet_of(never) for never in _NEVER):  # type: ignore[arg-type]
            report.add(
                "W-NO-EFFECT",
                place,
                f"{text} is never reachable: link-local, multicast or metadata addresses",
            )
