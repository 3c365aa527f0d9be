"""Asking hosts for resources: one request, one response or one typed failure.

The journey of a request through the files of this room:

1. The robot asks ``robots_visit`` for a host's robots.txt when it has none that is fresh.
   ``redirects`` follows hop by hop; ``robots`` reads the file (``robots_lines``: what each line
   is, ``robots_rules``: the longest match); ``robots_gate`` says what the answer means: rules,
   none, or unreachable, and then nothing is fetched from that host.
2. ``http`` takes the request. ``egress`` checks scheme, host and port against the source's
   scope, resolves once (``dns`` behind the port) and checks every address by the tables of
   ``addresses``; one refused address refuses the host.
3. ``http_handle`` aims a libcurl handle at the checked addresses, and asks the gate once more
   at the socket. ``http_engine`` drives it on the event loop, ``http_pace`` ends what takes too
   long in its phase. All bounds stand in ``limits``.
4. ``http_answer`` reads the head or names the failure, ``decoding`` takes off one layer of
   content encoding with bounded output, ``retry_after`` reads what a host asks for.

``shares/`` does the same for ftp, sftp, smb, file and WebDAV, ``logins/`` says who we are, ``proxies/`` which way a request takes.

``names`` and ``knocking`` are for people who look at a host: what the name service says beside addresses, and one connection to a
port through the gate, with the certificate that is shown there.

``HttpFetcher`` stays in ``ingather.fetch.http``: who only reads robots.txt need not load libcurl.
Nothing here decides about politeness, and nothing raises for what the network did.
"""

from ingather.fetch.dns import SystemResolver
from ingather.fetch.egress import EgressGate, Refusal
from ingather.fetch.limits import Limits, RobotsLimits
from ingather.fetch.redirects import REDIRECTS, Chain, Followed, carried_headers, follow, origin_of, target_of
from ingather.fetch.retry_after import RetryAfter, read_retry_after
from ingather.fetch.robots import RobotsTxt, RobotsVerdict
from ingather.fetch.robots_gate import RobotsKind, RobotsState, judge_robots
from ingather.fetch.robots_visit import ROBOTS_SCHEMES, robots_url, visit_robots

__all__ = [
    "REDIRECTS",
    "ROBOTS_SCHEMES",
    "Chain",
    "EgressGate",
    "Followed",
    "Limits",
    "Refusal",
    "RetryAfter",
    "RobotsKind",
    "RobotsLimits",
    "RobotsState",
    "RobotsTxt",
    "RobotsVerdict",
    "SystemResolver",
    "carried_headers",
    "follow",
    "judge_robots",
    "origin_of",
    "read_retry_after",
    "robots_url",
    "target_of",
    "visit_robots",
]
