"""What is written from the table: the commented ``ingather.toml`` and the reference page."""

from collections.abc import Mapping
from textwrap import fill

from ingather.conf.classes import CLASS_KEYS
from ingather.conf.settings.kinds import Setting
from ingather.conf.settings.table import SECTIONS, SETTINGS
from ingather.conf.sources.credentials import CREDENTIAL_KEYS
from ingather.conf.sources.reach import REACH_KEYS
from ingather.conf.sources.revisits import REVISIT_KEYS
from ingather.conf.sources.sections import COMMON_KEYS
from ingather.conf.sources.syndication import SYNDICATION_KEYS

__all__ = ["commented_file", "reference_page"]

_WIDTH = 100

_FILE_HEAD = """\
# Settings of this Ingather home. Everything stands here as a comment with its default: take the # away
# to change it. `ingather config show` tells every value and where it comes from, `ingather config check`
# finds mistakes. What robot.conf can hold (depth, delays, user agent, largest file) stands there alone.
# A variable INGATHER_SECTION_KEY overrides the file, a flag of a command overrides both.
"""

_SOURCE_HEAD = """\
# Sources: what is crawled as whose, and how far it may go. Each <Site> of config/filterrules.conf belongs
# to one, by its attribute source=; without it to "web", which may go to every public host.
"""

_REACH_HEAD = """\
# How a source's hosts are reached: protocols beside http, credentials, proxies. A source has these keys as well.
"""

_SYNDICATION_HEAD = """\
# Sources of kind rss and sitemap: feeds say what is new and changed. They have all keys above and these.
"""

_CREDENTIAL_HEAD = """\
# Credentials: how we show who we are to hosts. A source names those that go along with its requests. Passwords never stand here:
# `ingather secret set NAME` keeps them.
"""

_CREDENTIAL_EXAMPLE = {"url": "https://wiki.example/", "user": "crawler", "secret": "wiki"}

_CLASS_HEAD = """\
# Metadata classes: values of pages, feeds and external metadata under names by which they are searched
# (c:partner). Classes that are not defined here hold what external metadata says.
"""

_PAGE_HEAD = """\
# Settings

<!-- Made from the table in src/ingather/conf/settings/table.py by settings_pages.reference_page(). -->

Every setting of `ingather.toml`. What `robot.conf` can hold (depth, delays, connections a host, user
agent, largest file, time-outs of connecting and converting) stands in that file alone.

A flag of a command overrides the environment, the environment overrides the file, the file overrides the
default. `ingather config show` prints every value with its origin. The variable of a setting is
`INGATHER_SECTION_KEY` in capitals with `_` for `-`: `limits.total-timeout` is
`INGATHER_LIMITS_TOTAL_TIMEOUT`; a list is written there with commas.

Durations are written like `"250ms"`, `"30s"`, `"5m"`, `"2h"`, `"7d"`, sizes like `"64KiB"` or `"10MiB"`,
shares like `"10%"`. *Live* settings may change while the program runs; the others act at the next start.
"""


_SOURCE_ABOUT = """\
What is crawled as whose, and how far it may go. Each `<Site>` of `filterrules.conf` belongs to one source,
by its attribute `source=`; without it to `web`, which exists without being written and may go to every
public host. Link-local, multicast and metadata addresses and our own listeners are never reachable."""


_REACH_ABOUT = """\
Protocols beside http, credentials and proxies; of sources of every kind."""

_SYNDICATION_ABOUT = """\
Sources whose documents are what feeds (RSS, Atom, JSON Feed) or sitemaps list. They have all keys above and these."""


_CREDENTIAL_ABOUT = """\
How we show who we are to hosts ([pages that want a login](../how-to/crawl-with-a-password.md)). A source names those that go along with its
requests in `credentials`. Passwords never stand here: `ingather secret set NAME` keeps them. A relative path lies in the home; patterns
are regular expressions that are looked for."""


_CLASS_ABOUT = """\
Metadata classes ([External metadata](external-metadata.md)). A name is letters and digits, told apart by case. `t` (title),
`d` (date), `f` (format) and `X` (last day of validity) are there by themselves; a class that is not written here holds what
external metadata says of it, and is counted as a facet."""


_JSON = """\
## As JSON

`ingather config show --json` prints one object: `home` (the folder) and `settings`, a list of objects with
`name` (`section.key`, `source.NAME.key`, `robot.PARAMETER`), `value` and `origin` (`default`, `FILE:LINE`,
`$VARIABLE` or a flag). Durations, sizes and shares are texts with their units, as the file writes them.

`ingather config check --json` prints one object: `errors` (their number) and `findings`, a list of objects
with `code`, `severity` (`error` or `warning`), `file`, `line`, `column`, `text` and `hint` (or `null`)."""


def commented_file(written: Mapping[str, str] | None = None) -> str:
    """Return ``ingather.toml`` as ``init`` writes it: every setting as a comment with its default.

    Args:
        written: setting name to the text after ``=``, for settings that are to stand without a ``#``.
    """
    lines = [_FILE_HEAD.rstrip()]
    for section, about in SECTIONS.items():
        lines += ["", _comment(about), f"[{section}]"]
        for setting in SETTINGS:
            if setting.section == section:
                lines += ["", *_entry(setting, (written or {}).get(setting.name))]
    lines += ["", _SOURCE_HEAD.rstrip(), "#", "# [source.intranet]"]
    for setting in (*COMMON_KEYS, *REVISIT_KEYS):
        lines += ["#", _comment(_about(setting)), f"# {setting.key} = {setting.write(setting.default)}"]
    lines += ["", _REACH_HEAD.rstrip(), "#", "# [source.archive]"]
    for setting in REACH_KEYS:
        lines += ["#", _comment(_about(setting)), f"# {setting.key} = {setting.write(setting.default)}"]
    lines += ["", _SYNDICATION_HEAD.rstrip(), "#", "# [source.news]", '# kind = "rss"']
    for setting in SYNDICATION_KEYS:
        lines += ["#", _comment(_about(setting)), f"# {setting.key} = {setting.write(setting.default)}"]
    lines += ["", _CREDENTIAL_HEAD.rstrip(), "#", "# [credential.wiki]"]
    for setting in CREDENTIAL_KEYS:
        value = _CREDENTIAL_EXAMPLE.get(setting.key, setting.default)
        lines += ["#", _comment(_about(setting)), f"# {setting.key} = {setting.write(value)}"]
    lines += ["", _CLASS_HEAD.rstrip(), "#", "# [class.author]"]
    for setting in CLASS_KEYS:
        lines += ["#", _comment(_about(setting)), f"# {setting.key} = {setting.write(setting.default)}"]
    return "\n".join(lines) + "\n"


def _entry(setting: Setting, written: str | None) -> list[str]:
    text = setting.write(setting.default) if written is None else written
    mark = "" if written is not None else "# "
    return [_comment(_about(setting)), f"{mark}{setting.key} = {text}"]


def _about(setting: Setting) -> str:
    bounds = setting.bounds()
    parts = [setting.help, f"({bounds})" if bounds else "", "" if setting.acts else "No effect yet."]
    return " ".join(part for part in parts if part)


def _comment(text: str) -> str:
    return fill(text, width=_WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def reference_page() -> str:
    """Return ``docs/reference/settings.md``."""
    lines = [_PAGE_HEAD]
    for section, about in SECTIONS.items():
        rows = [setting for setting in SETTINGS if setting.section == section]
        lines += [f"## [{section}]", "", about, "", *_rows(rows), ""]
    lines += [
        "## [source.NAME]",
        "",
        _SOURCE_ABOUT,
        "",
        *_rows((*COMMON_KEYS, *REVISIT_KEYS)),
        "",
        "### How its hosts are reached",
        "",
        _REACH_ABOUT,
        "",
        *_rows(REACH_KEYS),
        "",
        "### Kinds `rss` and `sitemap`",
        "",
        _SYNDICATION_ABOUT,
        "",
        *_rows(SYNDICATION_KEYS),
        "",
        "## [credential.NAME]",
        "",
        _CREDENTIAL_ABOUT,
        "",
        *_rows(CREDENTIAL_KEYS),
        "",
        "## [class.NAME]",
        "",
        _CLASS_ABOUT,
        "",
        *_rows(CLASS_KEYS),
        "",
        _JSON,
    ]
    return "\n".join(lines).rstrip() + "\n"


def _rows(settings: tuple[Setting, ...] | list[Setting]) -> list[str]:
    rows = ["| key | type | default | live | meaning |", "|---|---|---|---|---|"]
    for setting in settings:
        default = setting.write(setting.default).replace("|", "\\|")
        live = "yes" if setting.live else "no"
        kind = str(setting.kind)
        if setting.bounds():
            kind += f", {setting.bounds()}"
        note = "" if setting.acts else " No effect yet."
        rows.append(f"| `{setting.key}` | {kind} | `{default}` | {live} | {setting.help}{note} |")
    return rows
