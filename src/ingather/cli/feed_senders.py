"""``ingather feed trust`` and ``ingather feed token``: who may push."""

from datetime import UTC, datetime
from pathlib import Path

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json

__all__ = ["token", "trust"]


@click.command("trust")
@home_option
@click.argument("address", required=False)
@click.option("--remove", is_flag=True, help="Trust ADDRESS no longer.")
@click.option("--list", "list_", is_flag=True, help="Print who is trusted, and who was turned away.")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def trust(home: Path, address: str | None, remove: bool, list_: bool, as_json: bool) -> int:  # noqa: FBT001 - click gives it so
    """Take feeds from ADDRESS: an address, a network (10.1.0.0/16, 2001:db8::/32), or all.

    This machine is always trusted. A running `serve` obeys at once.
    """
    from ingather.app.feeds.gate import trust_list
    from ingather.errors import UsageError

    place, _ = open_home(home)
    trusted = trust_list(place)
    if (address is None) == (not list_):
        raise UsageError("name an address, or ask for --list", hint="ingather feed trust 10.1.2.3")
    if address is None:
        return _show(place.path, as_json=as_json)
    if remove:
        if not trusted.remove(address):
            click.echo(
                f"{address} was not trusted by a line of its own; see: ingather feed trust --list", err=True
            )
            return 1
        click.echo(f"{address} is trusted no longer")
        return 0
    new = trusted.add(address)
    click.echo(f"feeds from {address} are taken" + ("" if new else ", as before"))
    return 0


def _show(path: Path, *, as_json: bool) -> int:
    from ingather.app.feeds.gate import refused_senders, trust_list
    from ingather.app.home import Home
    from ingather.feeds.senders import load_refused

    home = Home(path)
    networks = ["127.0.0.0/8", "::1/128", *map(str, trust_list(home).networks())]
    refused = load_refused(refused_senders(home))
    if as_json:
        rows = [{"address": s.address, "count": s.count, "last": s.last_s} for s in refused]
        print_json({"trusted": networks, "refused": rows})
        return 0
    for network in networks:
        click.echo(f"trusted  {network}")
    for sender in refused:
        last = datetime.fromtimestamp(sender.last_s, UTC)
        click.echo(f"refused  {sender.address}  {sender.count} times, last {last:%Y-%m-%d %H:%M:%S} UTC")
    if refused:
        click.echo("Trust one of them with: ingather feed trust ADDRESS", err=True)
    return 0


@click.command("token")
@home_option
@click.argument("source")
@click.option("--remove", is_flag=True, help="Forget the token of SOURCE.")
def token(home: Path, source: str, remove: bool) -> int:  # noqa: FBT001 - click gives it so
    """Make a token with which feeds of the data source SOURCE are taken from any address.

    It is printed once and replaces the source's old one. Clients send it as `Authorization: Bearer TOKEN`, or as the
    password of Basic credentials.
    """
    from ingather.app.feeds.gate import source_tokens
    from ingather.errors import UsageError
    from ingather.feeds.desk import FeedFields, FeedRefusedError

    place, _ = open_home(home)
    tokens = source_tokens(place)
    if remove:
        if not tokens.remove(source):
            click.echo(f"{source} has no token", err=True)
            return 1
        click.echo(f"the token of {source} is forgotten")
        return 0
    try:
        FeedFields(datasource=source, feedtype="incremental").check()
    except FeedRefusedError as error:
        raise UsageError(error.text, hint=error.hint) from error
    click.echo(tokens.make(source))
    return 0
