"""``ingather feed accept-from``, ``fetch-from``, ``trust`` and ``token``: who may push, and what may be fetched for it."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

if TYPE_CHECKING:
    from ingather.feeds.authority import Grant

__all__ = ["accept_from", "fetch_from", "token", "trust"]


def _with_address(verb: Callable[..., int]) -> Callable[..., int]:
    """Give *verb* the arguments that all three verbs about addresses have."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print the list as JSON."),
        click.option("--list", "list_", is_flag=True, help="Print what is named, and who was turned away."),
        click.option("--remove", is_flag=True, help="Take it back from ADDRESS."),
        click.argument("address", required=False),
        home_option,
    ):
        verb = option(verb)
    return verb


@click.command("accept-from")
@_with_address
def accept_from(home: Path, address: str | None, remove: bool, list_: bool, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Take feeds from ADDRESS: an address, a network (10.1.0.0/16, 2001:db8::/32), or all.

    Feeds of this machine are always taken. A running `serve` obeys at once. What a sender may say: `ingather feed token`
    bounds it; an address has no bounds but those of the settings `takes-over` and `taken-over`. URLs that it lists are fetched from
    private addresses only when `ingather feed fetch-from` names those.
    """
    return _edit(home, address, ("accept",), remove=remove, list_=list_, as_json=as_json)


@click.command("fetch-from")
@_with_address
def fetch_from(home: Path, address: str | None, remove: bool, list_: bool, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Let URLs that feeds list be fetched from ADDRESS, though it is private: an address or a network.

    Public addresses need no naming. A running `serve` obeys at once. Feeds are not taken from ADDRESS for that.
    """
    return _edit(home, address, ("fetch",), remove=remove, list_=list_, as_json=as_json)


@click.command("trust")
@_with_address
def trust(home: Path, address: str | None, remove: bool, list_: bool, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Take feeds from ADDRESS, and let what feeds list be fetched from it: `accept-from` and `fetch-from` in one.

    An adaptor needs both: it pushes lists of URLs, and serves what they name. This machine may always push.
    """
    return _edit(home, address, ("accept", "fetch"), remove=remove, list_=list_, as_json=as_json)


def _edit(  # noqa: PLR0913 - click gives it so
    home: Path, address: str | None, words: Collection[str], *, remove: bool, list_: bool, as_json: bool
) -> int:
    from ingather.app.feeds.senders import trust_list
    from ingather.errors import UsageError
    from ingather.feeds.trust import TrustRight

    place, read = open_home(home)
    verb = "trust" if len(words) > 1 else f"{next(iter(words))}-from"
    trusted = trust_list(place.feeds, read.settings)
    if (address is None) == (not list_):
        raise UsageError("name an address, or ask for --list", hint=f"ingather feed {verb} 10.1.2.3")
    if address is None:
        return _show(home, words, as_json=as_json)
    rights = [TrustRight(word) for word in words]
    said = " and ".join(
        {"accept": "feeds from {} are taken", "fetch": "what feeds list is fetched from {}"}[word]
        for word in words
    ).format(*[address] * len(words))
    if remove:
        if not trusted.remove(address, rights):
            click.echo(
                f"{address} is not named by a line of its own; see: ingather feed {verb} --list", err=True
            )
            return 1
        click.echo(f"no longer: {said}")
        return 0
    new = trusted.add(address, rights)
    click.echo(said + ("" if new else ", as before"))
    return 0


def _show(path: Path, words: Collection[str], *, as_json: bool) -> int:
    from ingather.app.feeds.senders import refused_senders, trust_list
    from ingather.feeds.senders import load_refused
    from ingather.feeds.trust import TrustRight

    home, read = open_home(path)
    trusted = trust_list(home.feeds, read.settings)
    networks = {word: [str(network) for network in trusted.networks(TrustRight(word))] for word in words}
    if "accept" in networks:
        networks["accept"] = ["127.0.0.0/8", "::1/128", *networks["accept"]]
    refused = load_refused(refused_senders(home))
    if as_json:
        rows = [{"address": s.address, "count": s.count, "last": s.last_s} for s in refused]
        print_json(
            {
                "trusted": networks.get("accept", networks.get("fetch")),
                **{word: networks[word] for word in words},
                "refused": rows,
            }
        )
        return 0
    for word in words:
        for network in networks[word]:
            click.echo(f"{word}-from  {network}")
    for sender in refused:
        last = datetime.fromtimestamp(sender.last_s, UTC)
        click.echo(f"refused  {sender.address}  {sender.count} times, last {last:%Y-%m-%d %H:%M:%S} UTC")
    if refused:
        click.echo("Take feeds from one of them with: ingather feed accept-from ADDRESS", err=True)
    return 0


@click.command("token")
@home_option
@click.argument("name", required=False)
@click.option(
    "--source", "sources", multiple=True, metavar="SOURCE", help="It may push documents to SOURCE, too."
)
@click.option(
    "--prefix", "prefixes", multiple=True, metavar="URL",
    help="It may speak about URLs at or below URL, and about no others. None given: any that belongs to no other source.",
)  # fmt: skip
@click.option(
    "--namespace", "namespaces", multiple=True, metavar="NAME",
    help="It may name members of groups in the name space NAME. None given: it may push no memberships.",
)  # fmt: skip
@click.option(
    "--group-source",
    "group_sources",
    multiple=True,
    metavar="SOURCE",
    help="It may push memberships to SOURCE, too.",
)
@click.option(
    "--acls/--no-acls", "acls", default=None, help="Whether it may write access lists. Default: it may."
)
@click.option("--reset", is_flag=True, help="Forget what it may so far; then the other options count.")
@click.option("--new", is_flag=True, help="Make a new token; the old one of that name ends.")
@click.option("--remove", is_flag=True, help="Forget the token; what was pushed with it stays.")
@click.option("--list", "list_", is_flag=True, help="Print the tokens, and what each may say.")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def token(  # noqa: PLR0913, PLR0917 - click gives it so
    home: Path,
    name: str | None,
    sources: tuple[str, ...],
    prefixes: tuple[str, ...],
    namespaces: tuple[str, ...],
    group_sources: tuple[str, ...],
    acls: bool | None,  # noqa: FBT001 - click gives it so
    reset: bool,  # noqa: FBT001 - click gives it so
    new: bool,  # noqa: FBT001 - click gives it so
    remove: bool,  # noqa: FBT001 - click gives it so
    list_: bool,  # noqa: FBT001 - click gives it so
    as_json: bool,  # noqa: FBT001
) -> int:
    """Make a token with which feeds of the data source NAME are taken from any address, or say what it may.

    It is printed once. Clients send it as `Authorization: Bearer TOKEN`, or as the password of Basic credentials. It
    speaks for its own data sources alone: about URLs that belong to no other source. With options a token that is there
    stays the same and may more; without options it is replaced by a new one.
    """
    from ingather.app.feeds.senders import feed_tokens
    from ingather.errors import UsageError
    from ingather.feeds.senders import standard_grant

    place, _ = open_home(home)
    tokens = feed_tokens(place)
    if (name is None) == (not list_):
        raise UsageError("name a data source, or ask for --list", hint="ingather feed token intranet")
    if name is None:
        return _show_tokens(tokens.grants(), as_json=as_json)
    if remove:
        if not tokens.remove(name):
            click.echo(f"{name} has no token", err=True)
            return 1
        click.echo(f"the token of {name} is forgotten")
        return 0
    for source in (name, *sources, *group_sources):
        _check_name(source)
    known = tokens.grant(name)
    before = standard_grant(name) if known is None or reset else known
    grant = _wider(before, sources, prefixes, namespaces, group_sources, acls)
    asked = bool(sources or prefixes or namespaces or group_sources or reset or acls is not None)
    if known is not None and asked and not new:
        tokens.change(name, grant)
        click.echo(_said(grant), err=True)
        return 0
    click.echo(tokens.make(name, grant))
    click.echo(_said(grant), err=True)
    if not grant.prefixes:
        click.echo(
            f"Bound it to its URLs with: ingather feed token {name} --prefix http://HOST/PATH/", err=True
        )
    return 0


def _wider(  # noqa: PLR0913, PLR0917 - what a grant has
    grant: "Grant",
    sources: tuple[str, ...],
    prefixes: tuple[str, ...],
    namespaces: tuple[str, ...],
    group_sources: tuple[str, ...],
    acls: bool | None,  # noqa: FBT001 - as the option says
) -> "Grant":
    from msgspec.structs import replace

    from ingather.access.principals import fold
    from ingather.errors import UrlError, UsageError
    from ingather.model.source_name import source_key
    from ingather.model.url import fed_url

    try:
        urls = [fed_url(prefix) for prefix in prefixes]
    except UrlError as error:
        raise UsageError(
            f"--prefix: {error.text}", hint="write it with its scheme and host: http://intranet/hr/"
        ) from error

    def more(old: tuple[str, ...], added: Collection[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*old, *added)))

    return replace(
        grant,
        sources=more(grant.sources, [source_key(source) for source in sources]),
        prefixes=more(grant.prefixes, urls),
        namespaces=more(grant.namespaces, [fold(namespace) for namespace in namespaces]),
        group_sources=more(grant.group_sources, [source_key(source) for source in group_sources]),
        acls=grant.acls if acls is None else acls,
    )


def _check_name(source: str) -> None:
    from ingather.errors import UsageError
    from ingather.feeds.desk import FeedFields, FeedRefusedError

    try:
        FeedFields(datasource=source, feedtype="incremental").check()
    except FeedRefusedError as error:
        raise UsageError(error.text, hint=error.hint) from error


def _said(grant: "Grant") -> str:
    """Return what a token may say, as a line."""
    urls = ", ".join(grant.prefixes) or "URLs that belong to no other source"
    groups = (
        f"groups in {', '.join(grant.namespaces)} through {', '.join(grant.group_sources)}"
        if grant.namespaces
        else "no memberships of groups"
    )
    lists = "access lists" if grant.acls else "no access lists"
    return f"{grant.token}: sources {', '.join(grant.sources)}; {urls}; {lists}; {groups}"


def _show_tokens(grants: Collection["Grant"], *, as_json: bool) -> int:
    import msgspec

    if as_json:
        rows: list[dict[str, Any]] = [
            {name: getattr(grant, name) for name in grant.__struct_fields__} for grant in grants
        ]
        print_json(msgspec.to_builtins(rows))
        return 0
    for grant in grants:
        click.echo(_said(grant))
    if not grants:
        click.echo("there are no tokens; make one with: ingather feed token SOURCE")
    return 0
