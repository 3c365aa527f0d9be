"""The vendor's functions for filter.conf, in the order of section 7 of the robot specification."""

from ingather.conf.filters.vocabulary import FunctionSpec, Kind, ParameterSpec, Vocabulary
from ingather.model.phase import Phase

__all__ = ["BUILTIN"]

_SETUP = frozenset({Phase.SETUP})
_TEST = frozenset({Phase.METADATA, Phase.DATA})
_DATA = frozenset({Phase.DATA})
_LATE = frozenset({Phase.DATA, Phase.ENUMERATE, Phase.GENERATE})
_ANY = _TEST | _LATE
_ENUMERATE = frozenset({Phase.ENUMERATE})
_GENERATE = frozenset({Phase.GENERATE})

_SRC = ParameterSpec("src", Kind.NAME, required=True, help="source to test")
_ALLOW = "values that go on; everything else is denied"
_DENY = "values that are denied; everything else goes on"
_DIALECT = ParameterSpec(
    "dialect", Kind.CHOICE, choices=("auto", "posix", "shexp", "python"), help="of the pattern"
)
_TYPE = ParameterSpec("type", help="acts only on resources of this media type")
_TRUNCATE_BYTES = ParameterSpec("truncate", Kind.INTEGER, help="at most so many bytes of UTF-8")
_TRUNCATE_CHARS = ParameterSpec("truncate", Kind.INTEGER, help="at most so many characters")
_MAX = ParameterSpec("max", Kind.INTEGER, default=1024, help="at most so many URLs of one resource")


def _filter(name: str, what: str, kind: Kind = Kind.TEXT) -> FunctionSpec:
    extra = (_DIALECT,) if kind is Kind.PATTERN else ()
    return FunctionSpec(
        name,
        _TEST,
        (_SRC, ParameterSpec("allow", kind, help=_ALLOW), ParameterSpec("deny", kind, help=_DENY), *extra),
        one_of=("allow", "deny"),
        help=f"Allow or deny by comparing a source with {what}.",
    )


def _generate_by(name: str, what: str, kind: Kind = Kind.TEXT) -> FunctionSpec:
    extra = (_DIALECT,) if kind is Kind.PATTERN else ()
    return FunctionSpec(
        name,
        _ANY,
        (
            ParameterSpec("dst", Kind.NAME, required=True, help="source (in Generate also attribute) to set"),
            ParameterSpec("value", required=True, help="what it is set to"),
            _SRC,
            ParameterSpec("match", kind, required=True, help="what the source is compared with"),
            *extra,
        ),
        help=f"Set a source, in Generate an attribute too, if another source {what}.",
    )


BUILTIN = Vocabulary(
    (
        FunctionSpec(
            "filterrules-setup",
            _SETUP,
            (
                ParameterSpec("config", Kind.RULES, required=True, help="the rules file"),
                ParameterSpec(
                    "logtype",
                    Kind.CHOICE,
                    default="normal",
                    choices=("verbose", "normal", "terse", "off"),
                    help="how much filter.log tells",
                ),
            ),
            help="Load starting points, sites and rules.",
        ),
        FunctionSpec(
            "setup-regex-cache",
            _SETUP,
            (ParameterSpec("cache-size", Kind.INTEGER, required=True, help="patterns kept compiled"),),
            help="Accepted for old files: every pattern is compiled once, at load.",
        ),
        FunctionSpec(
            "setup-type-by-extension",
            _SETUP,
            (ParameterSpec("file", Kind.MIME, required=True, help="extensions and their media types"),),
            help="Load a MIME map; several are merged.",
        ),
        _filter("filter-by-exact", "a whole value"),
        _filter("filter-by-prefix", "the start of a value"),
        _filter("filter-by-regex", "a pattern", Kind.PATTERN),
        FunctionSpec(
            "filter-by-max",
            _TEST,
            (
                ParameterSpec(
                    "src",
                    Kind.CHOICE,
                    required=True,
                    choices=("hosts", "objects", "depth", "content-length"),
                    help="what is counted",
                ),
                ParameterSpec(
                    "value",
                    Kind.SIZE,
                    required=True,
                    low=0,
                    help="the largest that goes on; content-length: kilobytes",
                ),
                ParameterSpec("unit", Kind.CHOICE, choices=("bytes", "kilobytes"), help="of content-length"),
            ),
            once=True,
            pure=False,
            help="Deny what exceeds a number.",
        ),
        FunctionSpec(
            "filter-by-md5",
            _LATE,
            once=True,
            requires="generate-md5",
            pure=False,
            help="Deny a resource whose bytes another URL has already given.",
        ),
        FunctionSpec(
            "filterrules-process",
            _TEST,
            requires="filterrules-setup",
            help="Apply the sites and rules of filterrules.conf.",
        ),
        FunctionSpec(
            "assign-source",
            _ANY,
            (
                ParameterSpec("dst", Kind.NAME, required=True, help="source to set"),
                ParameterSpec("value", help="text that it is set to"),
                ParameterSpec("src", Kind.NAME, help="source that is copied"),
            ),
            one_of=("value", "src"),
            one_of_code="E-VALUE-SRC",
            help="Set a source to a text or to a copy of another source.",
        ),
        FunctionSpec(
            "assign-type-by-extension",
            _TEST,
            (ParameterSpec("src", Kind.NAME, default="path", help="source that holds a file name"),),
            requires="setup-type-by-extension",
            help="Set type from the extension of a file name.",
        ),
        FunctionSpec(
            "clear-source",
            _ANY,
            (ParameterSpec("src", Kind.NAME, required=True, help="source that is cleared"),),
            help="Make a source undefined.",
        ),
        FunctionSpec(
            "convert-to-html",
            _DATA,
            (ParameterSpec("type", required=True, help="media type that is converted, or unknown"),),
            pure=False,
            help="Replace the body by what a converter made of it.",
        ),
        FunctionSpec(
            "copy-attribute",
            _GENERATE,
            (
                ParameterSpec("src", Kind.NAME, required=True, help="attribute that is copied"),
                ParameterSpec("dst", Kind.NAME, required=True, help="attribute that is set"),
                _TRUNCATE_CHARS,
                ParameterSpec("clean", Kind.SWITCH, default=False, help="leave no partial word"),
                ParameterSpec("if-missing", Kind.SWITCH, default=False, help="only if dst is absent"),
            ),
            help="Copy one attribute of the description into another.",
        ),
        _generate_by("generate-by-exact", "equals a value"),
        _generate_by("generate-by-prefix", "starts with a value"),
        _generate_by("generate-by-regex", "matches a pattern", Kind.PATTERN),
        FunctionSpec("generate-md5", _LATE, help="Set source md5 to the digest of the body."),
        FunctionSpec(
            "generate-rd-expires",
            _GENERATE,
            (ParameterSpec("dst", Kind.NAME, default="rd-expires", help="attribute that is set"),),
            help="Set when the description expires: what the resource says, else in 90 days.",
        ),
        FunctionSpec(
            "generate-rd-last-modified",
            _GENERATE,
            (ParameterSpec("dst", Kind.NAME, default="rd-last-modified", help="attribute that is set"),),
            aliases=("generate-last-modified",),
            help="Set when the description was made: now.",
        ),
        FunctionSpec(
            "rename-attribute",
            _GENERATE,
            (ParameterSpec("src", Kind.MAP, required=True, help="old->new, several by commas"),),
            help="Rename attributes of the description.",
        ),
        FunctionSpec(
            "enumerate-urls",
            _ENUMERATE,
            (_MAX, _TYPE),
            pure=False,
            help="Follow the hypertext links of the resource.",
        ),
        FunctionSpec(
            "enumerate-urls-from-text",
            _ENUMERATE,
            (_MAX, _TYPE),
            pure=False,
            help="Follow what stands behind URL: in the text.",
        ),
        FunctionSpec(
            "extract-full-text",
            _GENERATE,
            (
                _TRUNCATE_CHARS,
                ParameterSpec("dst", Kind.NAME, default="full-text", help="attribute that is set"),
            ),
            help="Put the whole text into an attribute.",
        ),
        FunctionSpec(
            "extract-html-meta",
            _GENERATE,
            (_TRUNCATE_BYTES, _TYPE),
            help="Put title and META names into attributes.",
        ),
        FunctionSpec(
            "extract-html-text",
            _GENERATE,
            (
                _TRUNCATE_BYTES,
                ParameterSpec("skip-headings", Kind.SWITCH, default=False, help="leave headings out"),
                _TYPE,
                ParameterSpec("dst", Kind.NAME, default="partial-text", help="attribute that is set"),
            ),
            help="Put the first text of the page into an attribute.",
        ),
        FunctionSpec(
            "extract-html-toc",
            _GENERATE,
            (
                _TRUNCATE_BYTES,
                ParameterSpec("level", Kind.INTEGER, default=6, high=6, help="lowest heading that is taken"),
                _TYPE,
                ParameterSpec("dst", Kind.NAME, default="toc", help="attribute that is set"),
            ),
            help="Put the headings into an attribute, one a line.",
        ),
        FunctionSpec(
            "extract-source",
            _GENERATE,
            (ParameterSpec("src", Kind.SOURCES, required=True, help="sources by commas; a->b renames"),),
            help="Copy sources into attributes.",
        ),
        FunctionSpec(
            "harvest-summarizer",
            _GENERATE,
            (ParameterSpec("summarizer", Kind.PROGRAM, required=True, help="name of a Harvest program"),),
            pure=False,
            help="Add the attributes that a Harvest program prints.",
        ),
        FunctionSpec(
            "filterrules-shutdown",
            frozenset({Phase.SHUTDOWN}),
            help="Free the rules.",
        ),
        FunctionSpec(
            "load-modules",
            frozenset(),
            (
                ParameterSpec("module", help="plug-in by name"),
                ParameterSpec("shlib", help=".py file in the plug-in folder"),
                ParameterSpec("funcs", required=True, help="functions by commas"),
                ParameterSpec("override", Kind.SWITCH, default=False, help="may replace built-ins"),
            ),
            one_of=("module", "shlib"),
            one_of_code="E-PARAM-MISSING",
            pure=False,
            help="Load functions of one's own.",
        ),
    )
)
