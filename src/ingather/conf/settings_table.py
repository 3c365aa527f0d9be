"""Every setting of ``ingather.toml``, once.

The commented file, ``config show`` and the reference page are made from this table.

What ``robot.conf`` can hold (depth, delays, connections a host, time-outs of connecting and converting,
the largest file, user agent, ...) is not here: such a value lives in that file alone.
"""

from ingather.conf.setting_kinds import Kind, Setting

__all__ = ["SECTIONS", "SETTINGS"]

_S, _B, _I = Kind.SECONDS, Kind.BYTES, Kind.INT
_KIB, _MIB, _GIB = 1 << 10, 1 << 20, 1 << 30
_M, _H, _D = 60.0, 3600.0, 86400.0

SECTIONS: dict[str, str] = {
    "listen": "Where the two listeners answer. Port 0 takes a free one.",
    "gather": "Processes that gather, and what they keep.",
    "politeness": "How hosts are treated. Delay and connections a host are robot.conf's.",
    "limits": "What no site, feed, document or query may exceed. Depth, file size and the time-outs of "
    "connecting and converting are robot.conf's.",
    "urls": "What makes two addresses one page.",
    "deletion": "When deletions wait for a human being. A source may set its own.",
    "catalog": "The database.",
    "index": "The full-text index.",
    "search": "The search page and its API.",
    "disk": "Space that is left alone.",
    "plugins": "Code of one's own. What stands here is never set over HTTP.",
    "log": "Events and the access log. robot.conf's loglevel governs robot.log only.",
}

SETTINGS: tuple[Setting, ...] = (
    # -- listen
    Setting("listen", "search", Kind.ADDRESS, "127.0.0.1:7070",
            "Search page, search API and /health. 0.0.0.0:7070 answers the whole network."),
    Setting("listen", "admin", Kind.ADDRESS, "127.0.0.1:7071",
            "Everything else, with the admin token. Leave it on loopback."),
    # -- gather
    Setting("gather", "gatherers", _I, 1, "Processes that fetch and read pages; about one a core.", low=1, high=64),
    Setting("gather", "converters", _I, 1, "Processes that read PDF, Office and suspect files.", low=1, high=64),
    Setting("gather", "in-flight-pages", _I, 2000,
            "Pages between claim and commit, all gatherers together.", low=1),
    Setting("gather", "in-flight-bytes", _B, 256 * _MIB,
            "Bytes of those pages.", low=_MIB),
    Setting("gather", "batch-pages", _I, 32, "Outcomes that a gatherer sends together.", low=1, high=1024),
    Setting("gather", "batch-wait", _S, 0.2, "Longest time that a finished page waits for its batch.", high=10.0),
    Setting("gather", "strikes", _I, 2,
            "Times that a document may kill or stall its reader before it is quarantined.", low=1, high=10),
    Setting("gather", "gatherer-memory", _B, _GIB,
            "Private memory of a gatherer, enforced by the kernel.", low=128 * _MIB),
    Setting("gather", "converter-documents", _I, 200, "Documents after which a converter is replaced.", low=1),
    Setting("gather", "converter-age", _S, 15 * _M, "Age at which a converter is replaced.", low=1.0),
    Setting("gather", "keep-bodies", Kind.CHOICE, "all",
            "Whether fetched bodies are kept beside their texts; texts always are.", choices=("all", "none")),
    Setting("gather", "segment-size", _B, 256 * _MIB, "Size at which a file of bodies is full.", low=_MIB),
    Setting("gather", "compact-share", Kind.SHARE, 0.5,
            "Dead share of a file of bodies above which it is compacted.", live=True, low=0.1),
    # -- politeness
    Setting("politeness", "address-connections", _I, 8,
            "Connections to one address at once, whatever its hosts are called.", low=1, high=1000),
    Setting("politeness", "address-starts", Kind.NUMBER, 4.0,
            "Requests a second to one address. Own hosts are not counted.", low=0.001, high=10000.0),
    Setting("politeness", "crawl-delay-max", _S, 60.0,
            "Longest crawl-delay of a robots.txt that is obeyed; a host that asks for more is reported.",
            live=True, low=1.0),
    Setting("politeness", "robots-cache", _S, _D, "Longest time that a robots.txt is believed.",
            live=True, low=_M, high=_D),
    Setting("politeness", "robots-size", _B, 512 * _KIB, "Bytes of a robots.txt that are read.", low=500 * _KIB),
    Setting("politeness", "back-off", _S, 10.0, "Wait after a first failure of a host; trebled by each further one.",
            live=True, low=1.0),
    Setting("politeness", "back-off-max", _S, _D, "Longest wait of our own choosing.", live=True, low=1.0),
    Setting("politeness", "retry-after-max", _S, 7 * _D, "Longest Retry-After that is obeyed; longer ones are reported.",
            live=True, low=_M),
    Setting("politeness", "attempts", _I, 4,
            "Visits of a URL that may fail in a row before it waits for its next regular visit.",
            live=True, low=1, high=100),
    Setting("politeness", "recheck-min", _S, _H, "Shortest time between two regular visits of a page.",
            live=True, low=_M),
    Setting("politeness", "recheck-max", _S, 30 * _D, "Longest time between two regular visits of a page.",
            live=True, low=_M),
    Setting("politeness", "recheck-first", _S, _D, "Time to the second visit of a page.", live=True, low=_M),
    # -- limits: fetching
    Setting("limits", "tls-timeout", _S, 10.0, "TLS handshake.", low=0.1),
    Setting("limits", "first-byte-timeout", _S, 30.0, "From the request to the first byte.", low=0.1),
    Setting("limits", "total-timeout", _S, 120.0, "From start to last byte.", low=0.1),
    Setting("limits", "min-rate", _B, 512, "Bytes a second below which a response is given up."),
    Setting("limits", "min-rate-window", _S, 30.0, "Time over which that rate is measured.", low=1.0),
    Setting("limits", "decoded-size", _B, 32 * _MIB, "Body after decompression.", low=_KIB),
    Setting("limits", "sitemap-size", _B, 50 * _MIB, "Sitemap or syndication feed.", low=_KIB, acts=False),
    Setting("limits", "ratio", Kind.NUMBER, 100.0, "Decoded bytes for each byte received.", low=1.0),
    Setting("limits", "ratio-after", _B, _MIB, "Decoded bytes from which the ratio counts."),
    Setting("limits", "encoding-layers", _I, 1, "Layers of compression that are removed from a body.", low=1, high=1),
    Setting("limits", "head-size", _B, 64 * _KIB, "Head of a response.", low=_KIB),
    Setting("limits", "head-fields", _I, 128, "Fields in the head of a response.", low=1),
    Setting("limits", "redirects", _I, 5, "Redirects in a chain.", low=0, high=50),
    Setting("limits", "redirects-a-day", _I, 20, "Redirects of one URL in a day that are followed. 0 = all.", low=0),
    # -- limits: URLs
    Setting("limits", "url-length", _I, 4096, "Characters of a URL.", low=64, high=65536),
    Setting("limits", "url-segments", _I, 20, "Segments of a path.", low=1),
    Setting("limits", "url-repeats", _I, 3, "Times that one segment may stand in a path.", low=1),
    Setting("limits", "page-links", _I, 1024, "Links of a page that are followed.", low=0),
    Setting("limits", "host-urls", _I, 100_000, "URLs of a host. 0 = no limit; a source may set its own.", low=0),
    Setting("limits", "host-excluded", _I, 100_000, "URLs of a host that are kept although the filters deny them. 0 = no limit.", low=0),
    Setting("limits", "prefix-urls", _I, 50_000,
            "URLs below the first two segments of a path. 0 = no limit; a source may set its own.", low=0),
    Setting("limits", "path-queries", _I, 500,
            "URLs that differ only behind the question mark. 0 = no limit; a source may set its own.", low=0),
    # -- limits: reading
    Setting("limits", "parser-cpu", _S, 5.0, "Processor time for reading one page.", low=0.1),
    Setting("limits", "parser-memory", _B, 512 * _MIB, "Memory of a converter.", low=64 * _MIB),
    Setting("limits", "parser-wall", _S, 30.0,
            "Time for reading one page; a gatherer that is stuck for longer is replaced.", low=1.0),
    # -- limits: listeners and feeds
    Setting("limits", "feed-size", _B, _GIB, "Pushed feed.", low=_KIB, acts=False),
    Setting("limits", "record-size", _B, 64 * _MIB, "Decoded content of a feed's record.", low=_KIB, acts=False),
    Setting("limits", "feed-batch", _I, 500, "Records of a feed that are applied together.", low=1, acts=False),
    Setting("limits", "connections", _I, 256, "Connections that a listener holds.", low=1),
    Setting("limits", "address-clients", _I, 32, "Connections that a listener holds for one address.", low=1),
    Setting("limits", "request-head-timeout", _S, 30.0, "Until the head of a request is complete.", low=0.1),
    Setting("limits", "request-rate", _B, _KIB, "Bytes a second below which a request body is given up."),
    Setting("limits", "request-rate-window", _S, 60.0, "Time over which that rate is measured.", low=1.0),
    # -- limits: queries
    Setting("limits", "query-length", _I, 2048, "Characters of a query.", live=True, low=1, high=65536),
    Setting("limits", "query-clauses", _I, 256, "Clauses of a query.", live=True, low=1, high=1024),
    Setting("limits", "query-expansions", _I, 1000, "Terms that the words of a query may expand to.", live=True, low=1),
    Setting("limits", "query-window", _I, 10_000, "Last result that can be paged to.", live=True, low=10),
    Setting("limits", "query-time", _S, 2.0, "Time for a query.", live=True, low=0.1, high=60.0),
    # -- urls
    Setting("urls", "drop-parameters", Kind.WORDS,
            ("PHPSESSID", "JSESSIONID", "ASPSESSIONID*", "CFID", "CFTOKEN", "sid", "sessionid", "session_id",
             "utm_*", "fbclid", "gclid", "dclid", "msclkid", "yclid", "mc_cid", "mc_eid", "_ga", "_gl"),
            "Query parameters that do not make another page, in any case; * stands for any ending."),
    # -- deletion
    Setting("deletion", "share", Kind.SHARE, 0.10,
            "Deletions of a source within 24 hours are held above this share of its documents ...", live=True),
    Setting("deletion", "documents", _I, 100, "... and above this number of documents; both must be passed.",
            live=True, low=0),
    Setting("deletion", "half-share", Kind.SHARE, 0.5, "Held, too, above this share of a source ...", live=True),
    Setting("deletion", "half-floor", _I, 10, "... of at least this many documents.", live=True, low=1),
    Setting("deletion", "confirm-after", _S, _H,
            "Least time between the first 404 or 410 of a page and the second look that may delete it.",
            live=True, low=_M),
    Setting("deletion", "held-shown", Kind.FLAG, default=True,
            help="Whether held documents of public sources stay in search meanwhile.", live=True),
    Setting("deletion", "held-shown-secure", Kind.FLAG, default=False,
            help="The same for sources with access rights.", live=True),
    # -- catalog
    Setting("catalog", "outcome-wait", _S, 0.25, "Longest time that outcomes wait for a common commit.", high=10.0),
    Setting("catalog", "outcome-rows", _I, 4000, "Outcomes that are committed together.", low=1),
    Setting("catalog", "client-wait", _S, 0.005,
            "Longest time that what a client waits for does so for a common commit.", high=1.0),
    Setting("catalog", "cache", _B, 64 * _MIB, "Page cache of the writer.", low=_MIB),
    Setting("catalog", "check-every", _S, 7 * _D, "Time between two full integrity checks of a serving home.", low=_H),
    Setting("catalog", "keep-changes", _S, 7 * _D,
            "Time for which entries of the change log are kept after the index has applied them.", live=True, low=_M),
    Setting("catalog", "keep-tombstones", _S, 180 * _D,
            "Time for which a deletion can be undone with its description.", live=True, low=_D),
    Setting("catalog", "keep-events", _S, 90 * _D, "Time for which notes for operators are kept.", live=True, low=_H),
    # -- index
    Setting("index", "max-lag", _I, 5000, "Documents that the index may lag before gathering waits for it.", low=100),
    Setting("index", "commit-documents", _I, 5000, "Documents of a commit at full speed.", low=1),
    Setting("index", "commit-interval", _S, 10.0, "Time between two commits at full speed.", low=0.1, high=15.0),
    Setting("index", "quiet-documents", _I, 1000, "Documents of a commit when few arrive.", low=1),
    Setting("index", "quiet-interval", _S, 1.0, "Time between two commits when few arrive.", low=0.05, high=2.0),
    Setting("index", "memory", _B, 64 * _MIB, "Memory of the index writer.", low=16 * _MIB, high=4 * _GIB),
    # -- search
    Setting("search", "page-size", _I, 10, "Results of a page.", live=True, low=1, high=100),
    Setting("search", "page-size-max", _I, 100, "Most results that a client may ask for at once.",
            live=True, low=1, high=1000),
    # -- disk
    Setting("disk", "reserve", _B, _GIB, "Free space below which new work is refused; searching goes on.", live=True),
    Setting("disk", "reserve-share", Kind.SHARE, 0.05,
            "The same as a share of the file system; the larger of the two counts.", live=True),
    # -- plugins
    Setting("plugins", "folder", Kind.TEXT, "plugins",
            "Folder of one-file plug-ins; a relative path lies in the home."),
    # -- log
    Setting("log", "level", Kind.CHOICE, "info", "Least severe event that is written.",
            live=True, choices=("debug", "info", "warning", "error")),
    Setting("log", "format", Kind.CHOICE, "auto", "auto: for people on a terminal, JSON elsewhere.",
            choices=("auto", "pretty", "json")),
    Setting("log", "access", Kind.FLAG, default=True, help="Whether the access log gets a line for each URL."),
    Setting("log", "file-size", _B, 64 * _MIB, "Size at which a log file is put aside.", low=_KIB),
    Setting("log", "files", _I, 10, "Log files put aside that are kept.", low=1, high=1000),
)  # fmt: skip
