"""Every address of both listeners: path, methods, listener, role, handler.

The applications are made from this table and the role matrix of the reference is printed from
it. What does not stand here is answered 404 or 405. The search listener knows searchers and nobody
above them: no line of the operator's stands under it.
"""

from ingather.web.api.access import broken, explain_access, who
from ingather.web.api.configuring import publish, reload
from ingather.web.api.deciding import classify, discard, holds, release, remove, undelete
from ingather.web.api.deletions import closed_holds, decisions, hold, tombstone, tombstones
from ingather.web.api.describing import RDM_PATH, rdm
from ingather.web.api.explaining import explain
from ingather.web.api.groups import ADD_PATH, add, begin, cleanup, finish, groups
from ingather.web.api.groups import show as show_group
from ingather.web.api.hosts import ALIAS_VERBS, ALIASES_PATH, aliases, decide, probe
from ingather.web.api.observing import health, metrics, ready, status
from ingather.web.api.overlaying import (
    DIFF_PATH,
    REPLACE_PATH,
    delete_record,
    diff,
    expired,
    hidden,
    history,
    put_record,
    replace,
    rollback,
    stats,
)
from ingather.web.api.overlaying import compare as compare_overlays
from ingather.web.api.overlaying import delete as delete_overlay
from ingather.web.api.overlaying import explain as explain_overlay
from ingather.web.api.overlaying import publish as publish_overlay
from ingather.web.api.overlaying import put as put_overlay
from ingather.web.api.overlaying import records as overlay_records
from ingather.web.api.overlaying import show as show_overlay
from ingather.web.api.people import (
    add_token,
    add_user,
    delete_user,
    disable_user,
    enable_user,
    revoke_token,
    set_password,
    tokens,
    users,
)
from ingather.web.api.pushing import feed_text, gate_text, push
from ingather.web.api.receipts import conflicts as source_conflicts
from ingather.web.api.receipts import (
    delete_source,
    destroy,
    disable_source,
    empty,
    enable_source,
    feed,
    feed_file,
    feeds,
    forget,
    records,
    replay,
    retry,
    source,
    sources,
)
from ingather.web.api.reports import compare_runs, report, reports, run, runs
from ingather.web.api.robot import command as robot_command
from ingather.web.api.robot import status as robot_status
from ingather.web.api.searching import search, whoami
from ingather.web.api.sites import converters, edit_site, site, switch_converter
from ingather.web.api.sites import sites as listed_sites
from ingather.web.api.syndicating import OPML_PATH, conflicts, import_opml, opml, pause, poll, resume
from ingather.web.api.syndicating import add as add_feed
from ingather.web.api.syndicating import documents as rss_documents
from ingather.web.api.syndicating import explain as explain_rss
from ingather.web.api.syndicating import feed as rss_feed
from ingather.web.api.syndicating import feeds as rss_feeds
from ingather.web.api.syndicating import status as rss_status
from ingather.web.api.traps import dismiss_trap, publish_trap, published_trap, trap, traps
from ingather.web.assets import serve_asset
from ingather.web.console.overview import overview
from ingather.web.console.signing import log_in, log_out
from ingather.web.console.why import why
from ingather.web.endpoint import Endpoint, Listener, Role
from ingather.web.searchui.page import search_page
from ingather.web.searchui.signing import sign_in, sign_in_page, sign_out
from ingather.web.searchui.signon import come_back, go_to_provider
from ingather.web.searchui.signposts import opensearch, robots

__all__ = ["ROUTES"]

_GET = ("GET",)
_POST = ("POST",)
_S, _A = Listener.SEARCH, Listener.ADMIN
_PUBLIC, _ADMIN = Role.ANONYMOUS, Role.ADMINISTRATOR
_SEARCHER, _FEEDER = Role.SEARCHER, Role.FEEDER

ROBOT_COMMANDS = (
    ("start", "begins a run of the robot, or goes on with one"),
    ("stop", "stops the run where it stands"),
    ("pause", "lets it begin no visit any more"),
    ("resume", "lets it go on"),
    ("quit", "ends run and robot, not the process"),
    ("reload", "has the robot take over what stands in config/"),
    ("clear", "forgets pool and URL states, no description"),
    ("add", "puts a URL into the pool"),
    ("recheck", "visits again now: URLs, a prefix, a host, a query, what failed"),
    ("slow", "slows a host down"),
    ("block", "asks a host nothing any more"),
    ("unblock", "asks a host again"),
    ("loglevel", "how much robot.log tells"),
)

SITE_EDITS = (
    ("set", "changes a site"),
    ("enable", "gathers a site again"),
    ("disable", "gathers a site no more"),
    ("delete", "takes a site out of the file"),
)

ROUTES: tuple[Endpoint, ...] = (
    Endpoint(_S, "/", _GET, _PUBLIC, search_page, "the search page"),
    Endpoint(_S, "/api/v1/search", _GET, _PUBLIC, search, "search, as JSON"),
    Endpoint(_S, "/api/v1/whoami", _GET, _SEARCHER, whoami, "as whom one searches here"),
    Endpoint(_S, "/login", _GET, _PUBLIC, sign_in_page, "the form for name and password"),
    Endpoint(_S, "/login", _POST, _PUBLIC, sign_in, "name and password begin a session"),
    Endpoint(_S, "/login/provider", _GET, _PUBLIC, go_to_provider, "leads to the identity provider"),
    Endpoint(_S, "/login/return", _GET, _PUBLIC, come_back, "what it says begins a session"),
    Endpoint(_S, "/logout", _POST, _SEARCHER, sign_out, "ends the session"),
    Endpoint(_S, "/health", _GET, _PUBLIC, health, "whether searches are answered"),
    Endpoint(_S, "/ready", _GET, _PUBLIC, ready, "whether searches should come here, and why not"),
    Endpoint(_S, "/opensearch.xml", _GET, _PUBLIC, opensearch, "lets browsers add this search"),
    Endpoint(_S, "/robots.txt", _GET, _PUBLIC, robots, "keeps other robots out of result pages"),
    Endpoint(_S, "/sw_version.txt", _GET, _PUBLIC, feed_text, "version of the feed protocol, for adaptors"),
    Endpoint(_S, "/gsafeed.dtd", _GET, _PUBLIC, feed_text, "the DTD of feeds"),
    Endpoint(_S, "/static/{name}", _GET, _PUBLIC, serve_asset, "style sheets, scripts, images"),
    Endpoint(_A, "/", _GET, _ADMIN, overview, "the status page"),
    Endpoint(_A, "/explain", _GET, _ADMIN, why, "the page that explains a URL"),
    Endpoint(_A, "/login", _POST, _PUBLIC, log_in, "the admin token begins a browser's session"),
    Endpoint(_A, "/logout", _POST, _ADMIN, log_out, "ends the session"),
    Endpoint(_A, "/health", _GET, _PUBLIC, health, "whether the keeper works"),
    Endpoint(_A, "/ready", _GET, _PUBLIC, ready, "whether everything works, and why not"),
    Endpoint(_A, "/metrics", _GET, _ADMIN, metrics, "figures for Prometheus"),
    Endpoint(_A, "/api/v1/explain", _GET, _ADMIN, explain, "why a URL is, or is not, in search"),
    Endpoint(_A, "/api/v1/status", _GET, _ADMIN, status, "the status document"),
    Endpoint(_A, "/api/v1/robot", _GET, _ADMIN, robot_status, "the robot: state, run, figures, next runs"),
    Endpoint(_A, "/api/v1/robot/status", _GET, _ADMIN, robot_status, "the same"),
    *(
        Endpoint(_A, f"/api/v1/robot/{name}", _POST, _ADMIN, robot_command(name), purpose)
        for name, purpose in ROBOT_COMMANDS
    ),
    Endpoint(_A, "/api/v1/sites/probe", _POST, _ADMIN, probe, "looks at sites before they are crawled"),
    Endpoint(_A, ALIASES_PATH, _GET, _ADMIN, aliases, "hosts with two names"),
    *(
        Endpoint(_A, f"{ALIASES_PATH}/{name}", _POST, _ADMIN, decide(name), purpose)
        for name, purpose in ALIAS_VERBS
    ),
    Endpoint(_A, "/api/v1/reports", _GET, _ADMIN, reports, "the reports there are"),
    Endpoint(_A, "/api/v1/reports/{name}", _GET, _ADMIN, report, "one report, as JSON or CSV"),
    Endpoint(_A, "/api/v1/runs", _GET, _ADMIN, runs, "the runs, newest first"),
    Endpoint(_A, "/api/v1/runs/compare", _GET, _ADMIN, compare_runs, "two runs side by side"),
    Endpoint(_A, "/api/v1/runs/{run}", _GET, _ADMIN, run, "one run with its figures"),
    Endpoint(_A, "/api/v1/traps", _GET, _ADMIN, traps, "crawler traps that were found"),
    Endpoint(_A, "/api/v1/traps/{id}", _GET, _ADMIN, trap, "one trap, with the rule that would stop it"),
    Endpoint(
        _A, "/api/v1/traps/{id}/publish", _POST, _ADMIN, publish_trap, "puts the rule of a trap into force"
    ),
    Endpoint(
        _A, "/api/v1/traps/{id}/published", _POST, _ADMIN, published_trap, "notes that its rule is in force"
    ),
    Endpoint(_A, "/api/v1/traps/{id}/dismiss", _POST, _ADMIN, dismiss_trap, "says that a trap is none"),
    Endpoint(_A, "/api/v1/sites", _GET, _ADMIN, listed_sites, "the sites, with their documents"),
    Endpoint(
        _A, "/api/v1/sites/add", _POST, _ADMIN, edit_site("add"), "writes a site and puts it into force"
    ),
    Endpoint(_A, "/api/v1/sites/{name}", _GET, _ADMIN, site, "one site"),
    *(
        Endpoint(_A, f"/api/v1/sites/{{name}}/{verb}", _POST, _ADMIN, edit_site(verb), purpose)
        for verb, purpose in SITE_EDITS
    ),
    Endpoint(_A, "/api/v1/converters", _GET, _ADMIN, converters, "which documents are converted, by type"),
    Endpoint(
        _A,
        "/api/v1/converters/enable",
        _POST,
        _ADMIN,
        switch_converter(on=True),
        "converts documents of a type",
    ),
    Endpoint(
        _A, "/api/v1/converters/disable", _POST, _ADMIN, switch_converter(on=False), "converts them no more"
    ),
    Endpoint(_A, "/api/v1/config/reload", _POST, _ADMIN, reload, "takes over what stands in config/"),
    Endpoint(_A, "/api/v1/config/publish", _POST, _ADMIN, publish, "takes over a staged configuration"),
    Endpoint(_A, "/api/v1/holds", _GET, _ADMIN, holds, "the deletions that are held"),
    Endpoint(_A, "/api/v1/holds/closed", _GET, _ADMIN, closed_holds, "the holds that ended, and by whom"),
    Endpoint(_A, "/api/v1/holds/{id}", _GET, _ADMIN, hold, "one hold with what is in it, and the evidence"),
    Endpoint(_A, "/api/v1/holds/{id}/release", _POST, _ADMIN, release, "carries held deletions out"),
    Endpoint(_A, "/api/v1/holds/{id}/discard", _POST, _ADMIN, discard, "keeps the documents of a hold"),
    Endpoint(_A, "/api/v1/remove", _POST, _ADMIN, remove, "takes documents out by hand"),
    Endpoint(_A, RDM_PATH, _POST, _ADMIN, rdm, "asks for and changes resource descriptions, as SOIF"),
    Endpoint(_A, "/api/v1/undelete", _POST, _ADMIN, undelete, "undoes removals and deletions"),
    Endpoint(_A, "/api/v1/tombstones", _GET, _ADMIN, tombstones, "what was deleted, and why"),
    Endpoint(_A, "/api/v1/tombstones/show", _GET, _ADMIN, tombstone, "one deletion with its evidence"),
    Endpoint(_A, "/api/v1/decisions", _GET, _ADMIN, decisions, "what people decided about deletions"),
    Endpoint(_A, "/api/v1/classify", _POST, _ADMIN, classify, "puts documents into categories by queries"),
    Endpoint(_A, "/api/v1/users", _GET, _ADMIN, users, "the local users"),
    Endpoint(_A, "/api/v1/users/add", _POST, _ADMIN, add_user, "adds a local user"),
    Endpoint(_A, "/api/v1/users/password", _POST, _ADMIN, set_password, "sets a user's password"),
    Endpoint(_A, "/api/v1/users/disable", _POST, _ADMIN, disable_user, "lets a user in no more"),
    Endpoint(_A, "/api/v1/users/enable", _POST, _ADMIN, enable_user, "lets a user in again"),
    Endpoint(_A, "/api/v1/users/delete", _POST, _ADMIN, delete_user, "deletes a user"),
    Endpoint(_A, "/api/v1/feeds", _GET, _ADMIN, feeds, "pushed feeds, newest first, and the backlog"),
    Endpoint(_A, "/api/v1/feeds/empty", _POST, _ADMIN, empty, "deletes what feeds brought for a data source"),
    Endpoint(_A, "/api/v1/feeds/{name}", _GET, _FEEDER, feed, "one feed: its state and counts"),
    Endpoint(_A, "/api/v1/feeds/{name}/records", _GET, _FEEDER, records, "what became of each record"),
    Endpoint(_A, "/api/v1/feeds/{name}/file", _GET, _ADMIN, feed_file, "the bytes as they were pushed"),
    Endpoint(_A, "/api/v1/feeds/{name}/retry", _POST, _ADMIN, retry, "applies a feed once more"),
    Endpoint(_A, "/api/v1/feeds/{name}/replay", _POST, _ADMIN, replay, "pushes a feed's file again"),
    Endpoint(
        _A, "/api/v1/feeds/{name}/delete", _POST, _ADMIN, forget, "forgets a feed, its receipts and its file"
    ),
    Endpoint(_A, "/api/v1/conflicts", _GET, _ADMIN, source_conflicts, "URLs of one source that others name"),
    Endpoint(_A, "/api/v1/sources", _GET, _ADMIN, sources, "sources, with what they own"),
    Endpoint(_A, "/api/v1/sources/{name}", _GET, _ADMIN, source, "one source: states, settings, last feeds"),
    Endpoint(
        _A,
        "/api/v1/sources/{name}/disable",
        _POST,
        _ADMIN,
        disable_source,
        "lets it rest; its documents stay",
    ),
    Endpoint(_A, "/api/v1/sources/{name}/enable", _POST, _ADMIN, enable_source, "lets it go on"),
    Endpoint(_A, "/api/v1/sources/{name}/delete", _POST, _ADMIN, delete_source, "deletes its documents"),
    Endpoint(
        _A,
        "/api/v1/sources/{name}/destroy",
        _POST,
        _ADMIN,
        destroy,
        "forgets what was listed for it, when nothing is left",
    ),
    Endpoint(_A, "/api/v1/groups", _GET, _ADMIN, groups, "sources of memberships, and groups"),
    Endpoint(
        _A, "/api/v1/groups/show", _GET, _ADMIN, show_group, "the groups of a user, or a group's members"
    ),
    Endpoint(_A, "/api/v1/groups/begin", _POST, _ADMIN, begin, "begins a load of memberships"),
    Endpoint(_A, ADD_PATH, _POST, _ADMIN, add, "adds to a load of memberships"),
    Endpoint(_A, "/api/v1/groups/finish", _POST, _ADMIN, finish, "ends a load of memberships"),
    Endpoint(_A, "/api/v1/groups/cleanup", _POST, _ADMIN, cleanup, "removes a source's memberships"),
    Endpoint(_A, "/api/v1/access/explain", _GET, _ADMIN, explain_access, "whether a user may see a URL"),
    Endpoint(_A, "/api/v1/access/broken", _GET, _ADMIN, broken, "URLs whose ACLs cannot be evaluated"),
    Endpoint(_A, "/api/v1/access/who", _GET, _ADMIN, who, "who can see a URL"),
    Endpoint(
        _A, "/api/v1/overlay/explain", _GET, _ADMIN, explain_overlay, "what is laid over a URL, and why"
    ),
    Endpoint(_A, "/api/v1/overlay/stats", _GET, _ADMIN, stats, "how many documents each line touches"),
    Endpoint(_A, "/api/v1/overlay/history", _GET, _ADMIN, history, "versions of external metadata"),
    Endpoint(_A, "/api/v1/overlay/expired", _GET, _ADMIN, expired, "documents whose last day is over"),
    Endpoint(_A, DIFF_PATH, _GET, _ADMIN, compare_overlays, "what lies between two versions"),
    Endpoint(_A, DIFF_PATH, _POST, _ADMIN, diff, "what another file would change"),
    Endpoint(_A, "/api/v1/overlay/records", _GET, _ADMIN, overlay_records, "the records that were set here"),
    Endpoint(_A, "/api/v1/overlay/records", ("PUT",), _ADMIN, put_record, "sets the record of a prefix"),
    Endpoint(_A, "/api/v1/overlay/records", ("DELETE",), _ADMIN, delete_record, "takes a record away"),
    Endpoint(_A, "/api/v1/overlay/put", _POST, _ADMIN, put_overlay, "sets a record, from a form"),
    Endpoint(_A, "/api/v1/overlay/delete", _POST, _ADMIN, delete_overlay, "takes a record away, from a form"),
    Endpoint(_A, REPLACE_PATH, _POST, _ADMIN, replace, "replaces all records"),
    Endpoint(_A, "/api/v1/overlay/hidden", _POST, _ADMIN, hidden, "hides an expired document, or shows it"),
    Endpoint(_A, "/api/v1/overlay/show", _GET, _ADMIN, show_overlay, "the texts of a version"),
    Endpoint(
        _A,
        "/api/v1/overlay/publish",
        _POST,
        _ADMIN,
        publish_overlay,
        "puts what stands in the files in force",
    ),
    Endpoint(_A, "/api/v1/overlay/rollback", _POST, _ADMIN, rollback, "puts an old version in force again"),
    Endpoint(_A, "/api/v1/rss/status", _GET, _ADMIN, rss_status, "sources with web feeds, and what is held"),
    Endpoint(_A, "/api/v1/rss/feeds", _GET, _ADMIN, rss_feeds, "the feeds: polls, counts, what is odd"),
    Endpoint(_A, "/api/v1/rss/feed", _GET, _ADMIN, rss_feed, "one feed, with its documents in trouble"),
    Endpoint(_A, "/api/v1/rss/documents", _GET, _ADMIN, rss_documents, "documents that feeds list"),
    Endpoint(
        _A, "/api/v1/rss/explain", _GET, _ADMIN, explain_rss, "what feeds say of a URL, and what is next"
    ),
    Endpoint(_A, "/api/v1/rss/conflicts", _GET, _ADMIN, conflicts, "listed documents of other sources"),
    Endpoint(_A, "/api/v1/rss/poll", _POST, _ADMIN, poll, "polls feeds now"),
    Endpoint(_A, "/api/v1/rss/pause", _POST, _ADMIN, pause, "polls feeds no more"),
    Endpoint(_A, "/api/v1/rss/resume", _POST, _ADMIN, resume, "polls feeds again"),
    Endpoint(
        _A, "/api/v1/rss/add", _POST, _ADMIN, add_feed, "looks at a URL, and adds its feeds to a source"
    ),
    Endpoint(_A, OPML_PATH, _GET, _ADMIN, opml, "the feeds as OPML"),
    Endpoint(_A, OPML_PATH, _POST, _ADMIN, import_opml, "takes over the feeds of an OPML file"),
    Endpoint(_A, "/api/v1/tokens", _GET, _ADMIN, tokens, "the tokens of programs"),
    Endpoint(_A, "/api/v1/tokens/add", _POST, _ADMIN, add_token, "makes a token and shows it once"),
    Endpoint(_A, "/api/v1/tokens/revoke", _POST, _ADMIN, revoke_token, "ends a token"),
    Endpoint(_A, "/xmlfeed", _GET, _FEEDER, gate_text, "405, with a form for browsers"),
    Endpoint(_A, "/xmlfeed", _POST, _FEEDER, push, "takes a feed of documents, as the feed ports do"),
    Endpoint(_A, "/xmlgroups", _POST, _FEEDER, push, "takes a feed of group memberships"),
    Endpoint(_A, "/getbacklogcount", _GET, _FEEDER, gate_text, "records that wait"),
    Endpoint(_A, "/getdtd", _GET, _FEEDER, gate_text, "the DTD of feeds"),
    Endpoint(_A, "/gsafeed.dtd", _GET, _PUBLIC, feed_text, "the DTD of feeds"),
    Endpoint(_A, "/sw_version.txt", _GET, _PUBLIC, feed_text, "version of the feed protocol"),
    Endpoint(_A, "/static/{name}", _GET, _PUBLIC, serve_asset, "style sheets, scripts, images"),
)
