"""``ingather rss list|status|show|explain|conflicts|poll|pause|resume``: web feeds and what became of what they list."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ingather.cli.home_option import home_option
from ingather.cli.opened import open_home, print_json
from ingather.cli.rss_check import clean
from ingather.units import counted

if TYPE_CHECKING:
    from ingather.app.syndication.office import SyndicationOffice

__all__ = ["conflicts", "explain", "list_", "pause", "poll", "resume", "show", "status"]

_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_source = click.option("--source", default="", metavar="NAME", help="Only those of this source.")


def office(home: Path) -> "SyndicationOffice":
    """Return what *home* can be asked about its web feeds."""
    from ingather.app.syndication.office import HomeSyndication
    from ingather.log import configure

    configure(level="warning")
    place, read = open_home(home)
    return HomeSyndication(place, read.settings, read.sources).office


@click.command("list")
@_source
@click.option("--trouble", is_flag=True, help="Only feeds with errors, or that need a person.")
@_json
@home_option
def list_(source: str, home: Path, *, trouble: bool, as_json: bool) -> None:
    """List the feeds: state, last and next poll, what they list, what is odd about them."""
    found = office(home).feeds(source)
    if trouble:
        found = [feed for feed in found if _marks(feed) or feed["state"] not in {"active", "new"}]
    if as_json:
        print_json({"feeds": found})
        return
    if not found:
        click.echo("no feeds" if not trouble else "no feed has trouble")
    for feed in found:
        for line in _brief(feed):
            click.echo(line)


def _brief(feed: Mapping[str, Any]) -> Iterator[str]:
    number = "-" if feed["id"] is None else feed["id"]
    yield f"{number:>4}  {feed['source']}  {feed['url']}{'  ' + clean(feed['title']) if feed['title'] else ''}"
    said = ["paused" if feed["paused"] else str(feed["state"]), *_marks(feed)]
    if feed["last_poll"]:
        said.append(f"polled {feed['last_poll']}: {_counts(feed)}")
    yield f"      {', '.join(said)}"
    if feed["next_poll"]:
        yield f"      next poll {feed['next_poll']}{': ' + feed['why'] if feed['why'] else ''}"
    elif feed["why"]:
        yield f"      {feed['why']}"
    if feed["error"]:
        yield f"      error: {clean(feed['error'])}"


def _counts(feed: Mapping[str, Any]) -> str:
    return (
        f"{counted(feed['items'], 'item')}, {feed['new']} new, {feed['changed']} changed, {feed['seen']} seen"
    )


def _marks(feed: Mapping[str, Any]) -> list[str]:
    """Return what a person should look at."""
    marks = [word for word in ("malformed", "overrun", "volatile", "lapsed") if feed.get(word)]
    return marks if feed["configured"] else [*marks, "not configured any more"]


@click.command("status")
@_json
@home_option
def status(home: Path, *, as_json: bool) -> None:
    """Show each source: cycles, feeds and documents by state, and deletions that are held, with the command that releases them."""
    found = office(home).status()
    if as_json:
        print_json(found)
        return
    if not found["sources"]:
        click.echo("no source has polled feeds so far")
    for source in found["sources"]:
        for line in _source_lines(source):
            click.echo(line)
    for notice in found["notices"]:
        click.echo(f"notice  {notice['at']}  {clean(notice['cause'])}")


def _source_lines(source: Mapping[str, Any]) -> Iterator[str]:
    off = "" if source["enabled"] else ", off (enable-indexer = false)"
    yield f"{source['name']}  {source['kind'] or 'not configured any more'}{off}"
    states = [f"{count} {state}" for state, count in source["feed_states"].items() if count]
    paused = f"; {source['paused']} paused" if source["paused"] else ""
    yield f"  {counted(source['feeds'], 'feed')}{': ' + ', '.join(states) if states else ''}{paused}"
    if source["cycle"] == "running":
        yield "  a cycle is running"
    elif source["next_cycle"]:
        yield f"  next cycle {source['next_cycle']}"
    documents = ", ".join(
        f"{count} {state.replace('_', ' ')}" for state, count in source["documents"].items()
    )
    yield f"  documents: {documents or 'none'}"
    if source["checks_behind_since"]:
        yield f"  more checks are due than a cycle may make, since {source['checks_behind_since']}"
    for hold in source["holds"]:
        yield f"  {counted(hold['documents'], 'deletion')} held since {hold['opened']}: {clean(hold['reason'])}"
        yield f"    carry them out: {hold['release']}; keep the documents: {hold['discard']}"
    for cycle in source["cycles"][:1]:
        ended = f"ended {cycle['ended']}" if cycle["ended"] else "is running"
        counts = f"{counted(cycle['polls'], 'poll')}, {counted(cycle['checks'], 'check')}, {cycle['removed']} removed"
        yield f"  last cycle began {cycle['begun']}, {ended}: {counts}{'; ' + clean(cycle['note']) if cycle['note'] else ''}"


@click.command("show")
@click.argument("feed")
@_json
@home_option
def show(feed: str, home: Path, *, as_json: bool) -> None:
    """Show FEED (number or URL): polls, counts, hints, errors, what is odd, the documents with trouble, what happened to it."""
    found = office(home).feed(feed)
    if as_json:
        print_json(found)
        return
    for line in _shown(found):
        click.echo(line)


def _shown(feed: Mapping[str, Any]) -> Iterator[str]:
    yield from _brief(feed)
    if feed["id"] is None:
        return
    yield from _polls(feed)
    totals = feed["totals"]
    documents = _states(totals["documents"])
    yield f"  documents: {documents or 'none'}; within a day {totals['checked']} checked, {totals['deleted']} deleted"
    if totals["suspects"]:
        yield f"  {counted(totals['suspects'], 'document')} may be error pages with status 200"
    yield from (f"  {line}" for line in _hints(feed["hints"]))
    if feed["interval_halved"]:
        yield f"  its window was overrun {feed['overrun_at']}: polled more often"
    if feed["volatile"]:
        yield "  its dates move while its documents do not: at most one fetch by date a day and document"
    for one in feed["trouble"]:
        hold = f"; ingather holds release {one['hold']}" if one["hold"] else ""
        yield f"  {one['state'].replace('_', ' ')}  {one['url']}  {clean(one['reason'])}{hold}"
    for event in feed["events"]:
        yield f"  {_event(event)}"


def _states(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in counts.items())


def _polls(feed: Mapping[str, Any]) -> Iterator[str]:
    if feed["address"] != feed["url"]:
        yield f"  polled at {feed['address']}"
    if feed["moved_to"]:
        yield f"  moved for good to {feed['moved_to']}, said {feed['moved']} times"
    if feed["last_good"]:
        yield f"  last good list {feed['last_good']}{', status ' + str(feed['status']) if feed['status'] else ''}, {feed['kind'] or 'feed'}"
    if feed["failing_since"]:
        yield f"  failing since {feed['failing_since']}, {counted(feed['errors'], 'poll')}"
    yield f"  at the last poll: {_counts(feed)}, {feed['dropped']} left the list, {feed['rejected']} rejected"
    if feed["rejected"]:
        yield f"  without a usable link, or one that the source may not ask for; the former are shown by: ingather rss check {feed['address']}"


def _hints(hints: Mapping[str, Any]) -> Iterator[str]:
    from ingather.units import format_seconds

    for name, word in (("ttl_s", "ttl"), ("max_age_s", "max-age"), ("retry_after_s", "Retry-After")):
        if hints[name] is not None:
            yield f"{word}: {format_seconds(hints[name])}"
    if hints["skip_hours"]:
        yield f"skip hours (GMT): {', '.join(map(str, hints['skip_hours']))}"
    if hints["skip_days"]:
        yield f"skip days (GMT): {', '.join(hints['skip_days'])}"


def _event(event: Mapping[str, Any]) -> str:
    change = (
        event["after"]
        if event["before"] in {"", event["after"]}
        else f"{event['before']} -> {event['after']}"
    )
    return f"{event['at']}  {change}: {clean(event['cause'])}{' (' + str(event['status']) + ')' if event['status'] else ''}"


@click.command("explain")
@click.argument("url")
@_json
@home_option
def explain(url: str, home: Path, *, as_json: bool) -> int:
    """Say what feeds say of the document URL, how it stands, what happens next, when and why.

    Exit status 1: no feed ever listed it.
    """
    found = office(home).explain(url)
    if as_json:
        print_json(found)
    else:
        for line in _explained(found):
            click.echo(line)
    return 0 if found["known"] else 1


_CLOCKS = (
    ("registered", "registered"), ("seen", "last listed"), ("indexed", "indexed"), ("checked", "last definite answer"), ("looked", "last visit"),
    ("deleted", "deleted"),
)  # fmt: skip
"""Member of an explanation to its name for people."""


def _explained(found: Mapping[str, Any]) -> Iterator[str]:
    if not found["known"]:
        yield f"{found['url']}: no feed ever listed it for a source of kind rss or sitemap"
        for listing in found["foreign"]:
            yield from _listing(listing)
        return
    yield f"{found['url']}: {found['because']}"
    yield f"  {found['state'].replace('_', ' ')}, source {found['source']}" + (
        f", but it belongs to {found['owner']}" if found["owner"] != found["source"] else ""
    )
    for name, words in _CLOCKS:
        if found[name]:
            yield f"  {words:<21} {found[name]}"
    yield from _state_of(found)
    for listing in found["listings"]:
        yield from _listing(listing)
    for event in found["events"]:
        yield f"  {_event(event)}"


def _state_of(found: Mapping[str, Any]) -> Iterator[str]:
    if found["final"]:
        yield f"  its link leads to {found['final']}"
    if found["failing_since"]:
        yield f"  {counted(found['failures'], 'visit')} failed since {found['failing_since']}: {clean(found['reason'])}"
    if found["suspect"]:
        yield f"  may be an error page: {clean(found['suspect'])}"
    if found["hold"]:
        yield f"  its deletion is held: {found['hold']['release']}, or {found['hold']['discard']}"


def _listing(listing: Mapping[str, Any]) -> Iterator[str]:
    now = "listed" if listing["listed"] else "listed no more"
    yield f"  {now} by {listing['url']} ({listing['source']}), first {listing['first']}, last {listing['last']}"
    dates = [f"{name} {clean(listing[name])}" for name in ("published", "modified") if listing[name]]
    yield f"      {', '.join(dates) or 'without a registered date'}"
    if listing["waiting"]:
        told = [
            f"{name} {clean(listing['waiting'][name])}"
            for name in ("published", "modified")
            if listing["waiting"][name]
        ]
        yield f"      since {listing['waiting']['noticed']} it says {', '.join(told) or 'no date'}; registered when the document was fetched"


@click.command("conflicts")
@_source
@_json
@home_option
def conflicts(source: str, home: Path, *, as_json: bool) -> None:
    """List documents that a feed lists and another source owns, the first hundred: pushed content comes before feeds, feeds before sitemaps, those before the crawl."""
    found = office(home).conflicts(source)
    if as_json:
        print_json({"documents": found})
        return
    for one in found:
        click.echo(f"{one['url']}  belongs to {one['owner']}, listed by {one['listed_by']}, too")
    if not found:
        click.echo("no feed lists a document of another source")


@click.command("poll")
@click.argument("target", metavar="FEED|SOURCE|all")
@_json
@home_option
def poll(target: str, home: Path, *, as_json: bool) -> int:
    """Have a FEED (number or URL), the feeds of a SOURCE, or all polled now, as soon as their hosts allow.

    Without a running serve they are polled when one starts. Exit status 1: none of them is.
    """
    return _act("poll", target, home, as_json=as_json)


@click.command("pause")
@click.argument("target", metavar="FEED|SOURCE|all")
@_json
@home_option
def pause(target: str, home: Path, *, as_json: bool) -> int:
    """Poll a FEED, the feeds of a SOURCE, or all no more until they are resumed; their documents stay.

    Exit status 1: none of them was paused now.
    """
    return _act("pause", target, home, as_json=as_json)


@click.command("resume")
@click.argument("target", metavar="FEED|SOURCE|all")
@_json
@home_option
def resume(target: str, home: Path, *, as_json: bool) -> int:
    """Poll again what was paused, or what its server called gone (410).

    Exit status 1: none of them is.
    """
    return _act("resume", target, home, as_json=as_json)


_DONE = {"poll": "is polled next", "pause": "is paused", "resume": "goes on"}


def _act(verb: str, target: str, home: Path, *, as_json: bool) -> int:
    desk = office(home)
    done = {"poll": desk.poll, "pause": desk.pause, "resume": desk.resume}[verb](target)
    if as_json:
        print_json(done)
    else:
        for feed in done["feeds"]:
            click.echo(f"{feed['url']}: {_DONE[verb] if feed['done'] else feed['why']}")
        if not done["feeds"]:
            click.echo("there is no such feed")
    return 0 if any(feed["done"] for feed in done["feeds"]) else 1
