"""``ingather site add|set|enable|disable|delete``."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.site_common import asked, edit_options, say
from ingather.cli.site_list import desk
from ingather.errors import UsageError
from ingather.units import counted

__all__ = ["add", "add_site", "delete", "disable", "enable", "set_"]

_CLEARED = (
    "depth",
    "database",
    "source",
    "delay",
    "connections",
    "credentials",
    "start",
    "protocol",
    "port",
    "rule",
)


def site_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add what a site has."""
    for option in (
        click.option(
            "--rule",
            "rules",
            multiple=True,
            metavar="NAME",
            help="A rule it uses; again for more, in their order.",
        ),
        click.option("--credentials", metavar="NAME", help="A [credential.NAME] of ingather.toml."),
        click.option(
            "--connections", type=click.IntRange(1, 100), metavar="N", help="At a time to a host of it."
        ),
        click.option("--delay", metavar="SECONDS", help="Between the starts of two visits to a host of it."),
        click.option("--port", "ports", multiple=True, metavar="N", help="A port, or several by commas."),
        click.option(
            "--protocol", "protocols", multiple=True, metavar="NAME", help="A protocol, or several by commas."
        ),
        click.option("--start", "starts", multiple=True, metavar="URL", help="A starting point."),
        click.option("--source", metavar="NAME", help="Source that owns its URLs; default web."),
        click.option("--database", metavar="NAME", help="Where its descriptions are put."),
        click.option(
            "--depth", type=click.IntRange(min=-1), metavar="N", help="Links from the start; -1 = no limit."
        ),
        click.option("--name", metavar="NAME", help="What it is called; default: its host."),
    ):
        function = option(function)
    return function


@click.command("add", short_help="Write a site into filterrules.conf and put it into force.")
@click.argument("host")
@home_option
@click.option("--domain", is_flag=True, help="Subdomains belong to it.")
@site_options
@click.option("--no-start", is_flag=True, help="Nothing begins there: links lead to it.")
@click.option("--no-look", is_flag=True, help="Do not ask the host whether something is in the way.")
@edit_options
def add(host: str, home: Path, **given: Any) -> int:
    """Write a site for HOST (a host, host:port, or a URL to start from) into filterrules.conf; all else in it stays.

    Without --start it begins at the root. Without --rule it uses the enabled rules that are for new sites. The configuration
    is published as "ingather conf publish" does: a running robot works by it at once.

    Then the host is looked at, with two requests: what would keep the robot from it is said (a private address, a login, robots.txt, the
    certificate). A private address is opened in ingather.toml when you say so: at the question, with --yes, or later with "site open".
    """
    return add_site(home, host, given)


def add_site(home: Path, host: str, given: Mapping[str, Any]) -> int:
    """Add a site as *given* (values of the options) says; return the exit status."""
    from ingather.conf.sites.newsite import NewSite

    new = NewSite(
        host, name=given["name"] or "", domain=given["domain"], depth=given["depth"], source=given["source"] or "web",
        database=given["database"] or "", delay=given["delay"] or "", connections=given["connections"],
        credentials=given["credentials"] or "", starts=given["starts"], no_start=given["no_start"],
        protocols=_words(given["protocols"]), ports=_ports(given["ports"]), rules=given["rules"] or None,
    )  # fmt: skip
    sites = desk(home)
    answer = sites.add(new, asked(given))
    if given["dry_run"] or not answer["difference"] or given.get("no_look"):
        return say(answer, f"site {answer['site']} added", given=given)
    from ingather.cli.site_open import look_at

    site = sites.shown(answer["site"])
    if not given["as_json"]:
        say(answer, f"site {answer['site']} added", given=given)
        look_at(home, site, given)
        return 0
    return say({**answer, **look_at(home, site, given)}, f"site {answer['site']} added", given=given)


@click.command("set", short_help="Change attributes and lines of a site.")
@click.argument("site", metavar="NAME")
@home_option
@click.option("--host", metavar="HOST", help="Another host.")
@click.option("--domain/--server", "domain", default=None, help="Whether subdomains belong to it.")
@site_options
@click.option("--remove-start", "gone", multiple=True, metavar="URL", help="It begins there no more.")
@click.option(
    "--unset", "unset", multiple=True, type=click.Choice(_CLEARED), help="Take this out: the default counts."
)
@edit_options
def set_(site: str, home: Path, **given: Any) -> int:
    """Change the site NAME (its name or its host) in its place in filterrules.conf; comments and all else stay.

    --start adds a starting point; --protocol, --port and --rule replace the lists that there are.
    """
    from ingather.conf.sites.siteedit import SiteChange

    kind = None if given["domain"] is None else "domain" if given["domain"] else "server"
    stated = {"host": given["host"], "type": kind}
    for key in ("name", "depth", "source", "database", "delay", "connections", "credentials"):
        stated[key] = None if given[key] is None else str(given[key])
    parameters = {key: value for key, value in stated.items() if value is not None}
    unset = set(given["unset"])
    if twice := unset & (
        parameters.keys() | {key for key in ("start", "protocol", "port", "rule") if given[f"{key}s"]}
    ):
        raise UsageError(f"{min(twice)} is set and unset", hint="give one of the two")
    parameters |= dict.fromkeys(unset - {"start", "protocol", "port", "rule"}, "")
    sites = desk(home)
    gone = given["gone"]
    if "start" in unset:
        gone = tuple(start["url"] for start in sites.shown(site)["starts"])
    change = SiteChange(
        parameters=parameters, add_starts=given["starts"], remove_starts=gone,
        protocols=_words(given["protocols"]) or _cleared("protocol" in unset),
        ports=tuple(map(str, _ports(given["ports"]))) or _cleared("port" in unset),
        rules=given["rules"] or _cleared("rule" in unset),
    )  # fmt: skip
    if change == SiteChange():
        raise UsageError("nothing to set", hint="ingather site set --help lists what a site has")
    answer = sites.change(site, change, asked(given))
    return say(answer, f"site {answer['site']} changed", given=given)


@click.command("enable", short_help="Gather a site again.")
@click.argument("site", metavar="NAME")
@home_option
@edit_options
def enable(site: str, home: Path, **given: Any) -> int:
    """Enable the site NAME (its name or its host)."""
    return _switch(home, site, given, on=True)


@click.command("disable", short_help="Gather a site no more.")
@click.argument("site", metavar="NAME")
@home_option
@edit_options
def disable(site: str, home: Path, **given: Any) -> int:
    """Disable the site NAME (its name or its host): its URLs are denied, "site disabled", unless another site covers them.

    Its documents are denied at a visit that comes at once where serve runs; then the deletion policy decides about them.
    """
    return _switch(home, site, given, on=False)


@click.command("delete", short_help="Take a site out of filterrules.conf.")
@click.argument("site", metavar="NAME")
@home_option
@edit_options
def delete(site: str, home: Path, **given: Any) -> int:
    """Take the site NAME (its name or its host) out of filterrules.conf; comments before it stay.

    Its documents are denied at a visit that comes at once where serve runs; then the deletion policy decides about them. --dry-run says
    how many there are.
    """
    answer = desk(home).delete(site, asked(given))
    _fate(answer, given)
    return say(answer, f"site {answer['site']} deleted", given=given)


def _switch(home: Path, site: str, given: Mapping[str, Any], *, on: bool) -> int:
    from ingather.conf.sites.siteedit import SiteChange

    answer = desk(home).change(site, SiteChange(enable=on), asked(given))
    if not on:
        _fate(answer, given)
    return say(answer, f"site {answer['site']} {'enabled' if on else 'disabled'}", given=given)


def _fate(answer: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    if given["as_json"]:
        return
    then = "would be" if given["dry_run"] else "are now"
    click.echo(
        f"under it: {counted(answer['documents'], 'document')}; {answer['uncovered']} {then} under no enabled site: they leave "
        "search as the deletion policy lets them"
    )


def _cleared(wanted: bool) -> tuple[str, ...] | None:  # noqa: FBT001 - a word of the caller's
    return () if wanted else None


def _words(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.strip().lower() for text in given for word in text.split(",") if word.strip())


def _ports(given: tuple[str, ...]) -> tuple[int, ...]:
    words = _words(given)
    for word in words:
        if not word.isascii() or not word.isdigit() or len(word) > 5:  # noqa: PLR2004 - digits of a port
            raise UsageError(f"{word!r} is not a port", hint="allowed: 1 to 65535")
    return tuple(map(int, words))
