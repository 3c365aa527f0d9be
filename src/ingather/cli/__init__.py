"""The command ``ingather``: one verb a file, loaded when it is called.

:func:`main` is the whole entry: find the verb in :data:`VERBS`, run it, turn what it raises into one
message and an exit status. A verb's file holds a click command named ``command``; what it returns is
the exit status (``None`` = 0). Slow imports belong inside it: help takes 0.05 s because nothing of a
verb is imported before the verb is called.

Exit status: 0 done; 1 the answer is no, or work failed; 2 the command was called wrongly (one line on
standard error); 130 interrupted; 141 the reader of our output went away. Data goes to standard output,
messages to standard error.
"""

import gc
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

__all__ = ["VERBS", "Verb", "main"]

_PIPE_CLOSED = 141
_THRESHOLDS = (200_000, 20, 50)
"""For looking for cycles. A thousand modules make 120,000 objects that all stay: by Python's own thresholds looking among them again and
again is a fifth of a short command's time."""


class Verb(NamedTuple):
    """Where a verb's command is (``module:attribute``), its chapter in the help, and its one line there."""

    target: str
    chapter: str
    about: str


JOURNEY = "The journey of a page"
GATHER = "What is gathered, and when"
PUSHED = "What is pushed and followed"
OUT = "What is out of search, and why"
DESCRIBE = "What is said about documents"
PEOPLE = "Who may see it"
SETTINGS = "How it is set up"
CARE = "Whether all is well"
CHAPTERS = (JOURNEY, GATHER, PUSHED, OUT, DESCRIBE, PEOPLE, SETTINGS, CARE)
"""Of the help, by what people do."""

VERBS: dict[str, Verb] = {
    "init": Verb("ingather.cli.init:command", JOURNEY, "make a home: settings, filters, an empty catalog"),
    "crawl": Verb("ingather.cli.crawl:command", JOURNEY, "gather sites once, until nothing is left to visit"),
    "serve": Verb("ingather.cli.serve:command", JOURNEY, "gather on and on, follow changes, answer searches"),
    "search": Verb("ingather.cli.search:command", JOURNEY, "ask the index from the terminal"),
    "explain": Verb("ingather.cli.explain:command", JOURNEY, "why is a URL in search, or why is it not"),
    "simulate": Verb(
        "ingather.cli.simulate:command", JOURNEY, "what the filters would do with a URL, nothing stored"
    ),
    "replay": Verb(
        "ingather.cli.replay:command", JOURNEY, "a changed configuration over what is stored: the difference"
    ),
    "demo": Verb("ingather.cli.demo:command", JOURNEY, "all of it in a temporary home, on real content"),
    "doctor": Verb("ingather.cli.doctor:command", CARE, "what is wrong with machine or home, and what to do"),
    "notify": Verb("ingather.cli.notify:command", CARE, "whether notices arrive, by webhook and mail"),
    "backup": Verb("ingather.cli.backup:backup", CARE, "a verified copy of the home, while it runs"),
    "restore": Verb("ingather.cli.backup:restore", CARE, "a home from a backup, everything checked"),
    "catalog": Verb("ingather.cli.catalog:command", CARE, "count what is kept, read it back and name damage"),
    "index": Verb("ingather.cli.index:command", CARE, "compare the index with the catalog, or make it anew"),
    "rd": Verb(
        "ingather.cli.rd:command", DESCRIBE, "resource descriptions: export, import, edit, delete, expire"
    ),
    "feed": Verb("ingather.cli.feed:command", PUSHED, "pushed feeds: who may send them, what became of them"),
    "rss": Verb("ingather.cli.rss:command", PUSHED, "feeds that sites publish: add, list, poll, why is what"),
    "robot": Verb(
        "ingather.cli.robot:command",
        GATHER,
        "the robot under control: status, start, stop, pause, add, slow, block",
    ),
    "recheck": Verb(
        "ingather.cli.recheck:command",
        GATHER,
        "visit again now: URLs, a prefix, a host, a query, what failed",
    ),
    "report": Verb(
        "ingather.cli.report:command",
        CARE,
        "reports: errors, exclusions, queue, duplicates, slow hosts, orphans",
    ),
    "traps": Verb(
        "ingather.cli.traps:command",
        GATHER,
        "crawler traps: list, show, publish the rule that stops one, dismiss",
    ),
    "runs": Verb("ingather.cli.runs:command", GATHER, "runs of the robot: list, show, compare two"),
    "source": Verb(
        "ingather.cli.source:command", GATHER, "sources: what they own, what was pushed, delete, destroy"
    ),
    "converter": Verb(
        "ingather.cli.converter:command", SETTINGS, "converters: which documents become pages, by type"
    ),
    "site": Verb("ingather.cli.site:command", GATHER, "sites: what is crawled, and what a host is like"),
    "proxy": Verb("ingather.cli.proxy:command", GATHER, "which proxy a URL takes, and why"),
    "overlay": Verb(
        "ingather.cli.overlay:command",
        DESCRIBE,
        "external metadata: values laid over documents by URL prefix",
    ),
    "holds": Verb(
        "ingather.cli.holds:command", OUT, "deletions that wait for you: list, show, release, discard"
    ),
    "tombstones": Verb(
        "ingather.cli.tombstones:command", OUT, "what was deleted, what proves it, and who decided"
    ),
    "remove": Verb("ingather.cli.removing:remove", OUT, "take a document or a prefix out of search at once"),
    "undelete": Verb("ingather.cli.removing:undelete", OUT, "undo deletions"),
    "classify": Verb(
        "ingather.cli.classify:command", DESCRIBE, "documents into categories by queries of the index"
    ),
    "user": Verb("ingather.cli.user:command", PEOPLE, "people who log in to the search page"),
    "token": Verb(
        "ingather.cli.token:command", PEOPLE, "keys of programs that search, push feeds or administer"
    ),
    "secret": Verb(
        "ingather.cli.secret:command",
        GATHER,
        "passwords and keys for hosts: set, list, delete, resume, rekey",
    ),
    "groups": Verb("ingather.cli.groups:command", PEOPLE, "who is in which group: list, show, load, import"),
    "access": Verb("ingather.cli.access:command", PEOPLE, "who may see a document, and why"),
    "plugins": Verb("ingather.cli.plugins:command", SETTINGS, "list code of your own and whether it works"),
    "config": Verb(
        "ingather.cli.config:command", SETTINGS, "show every setting with its origin, or find mistakes"
    ),
    "conf": Verb(
        "ingather.cli.conf:command",
        SETTINGS,
        "find mistakes in the robot's files: filters, rules, robot.conf",
    ),
}
"""In the order of the help. An entry comes with the file that it names."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line (default: this process' own) and exit with its status."""
    gc.set_threshold(*_THRESHOLDS)
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: list[str]) -> int:
    """Run *arguments* and return the exit status; every expected trouble is a message, not a traceback."""
    from ingather.cli.group import root
    from ingather.cli.trouble import status_of

    try:
        status = root(VERBS).main(arguments, prog_name="ingather", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes standard output once more at its end; that must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except SystemExit as left:  # by click: completion is done, or the pipe was closed while it wrote
        return _PIPE_CLOSED if left.code else 0
    except (Exception, KeyboardInterrupt) as error:
        known = status_of(error)
        if known is None:
            raise
        return known
    return status if isinstance(status, int) else 0
