"""What an answer to robots.txt means for its host (RFC 9309 section 2.3.1), and for how long.

Pure: answers and wall times go in, a :class:`RobotsState` comes out.

=====================================  ===========================================
answer                                 meaning
=====================================  ===========================================
2xx                                    its rules; none in it, none apply
304 to our validators                  the rules that we have
4xx but 429; too many redirects        no rules: everything may be fetched
429, 5xx, everything else, no answer   unreachable: **nothing** may be fetched
=====================================  ===========================================

An unreachable robots.txt is asked for again after a pause that doubles; until it answers the
host stays closed, beyond 30 days too, and is then reported. Rules that were known before do
not keep it open.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from ingather.fetch.limits import RobotsLimits
from ingather.fetch.redirects import REDIRECTS
from ingather.fetch.retry_after import read_retry_after
from ingather.fetch.robots import RobotsTxt, RobotsVerdict, parse
from ingather.model.resource import Failure, FailureKind, Response

__all__ = ["RobotsKind", "RobotsState", "judge_robots"]

_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?([0-9]{1,10})", re.IGNORECASE)
_NO_STORE = re.compile(r"(?:^|[\s,])no-(?:store|cache)(?:[\s,]|$)", re.IGNORECASE)
_OK, _REDIRECTION, _CLIENT_ERROR, _SERVER_ERROR = 200, 300, 400, 500
_NOT_MODIFIED, _TOO_MANY_REQUESTS = 304, 429
_ENDLESS = frozenset({FailureKind.REDIRECTS, FailureKind.REDIRECT_LOOP, FailureKind.REDIRECT_TARGET})
_MAX_DOUBLINGS = 16
_NOTHING = parse(b"")


class RobotsKind(StrEnum):
    """What is known of a host's robots.txt."""

    RULES = "rules"
    NONE = "none"
    """There is no robots.txt: nothing is forbidden."""
    UNREACHABLE = "unreachable"
    """It cannot be had: nothing may be fetched."""


@dataclass(frozen=True, slots=True)
class RobotsState:
    """What a host's robots.txt says, since when and until when.

    Attributes:
        kind: see :class:`RobotsKind`.
        rules: the file read; empty for ``NONE`` and ``UNREACHABLE``.
        fetched_s: wall time of the answer.
        expires_s: wall time from which on it must be asked for again before the host is visited.
        detail: for people: status, failure, where redirects led.
        status: HTTP status of the last answer, 0 for none.
        failures: unreachable answers in a row.
        since_s: wall time of the first of them, ``None`` when it answers.
        etag, last_modified: validators as received.
    """

    kind: RobotsKind
    rules: RobotsTxt
    fetched_s: float
    expires_s: float
    detail: str = ""
    status: int = 0
    failures: int = 0
    since_s: float | None = None
    etag: str = ""
    last_modified: str = ""

    def decide(self, agent: str, url: str) -> RobotsVerdict:
        """Judge *url* for *agent*; an unreachable robots.txt forbids everything but itself."""
        if self.kind is RobotsKind.UNREACHABLE:
            return RobotsVerdict(allowed=False, reason=f"robots.txt is unreachable: {self.detail}")
        if self.kind is RobotsKind.NONE:
            return RobotsVerdict(allowed=True, reason=f"no robots.txt: {self.detail}")
        return self.rules.decide(agent, url)

    def allows(self, agent: str, url: str) -> bool:
        """Whether *agent* may fetch *url*; the quick form of :meth:`decide`."""
        if self.kind is RobotsKind.RULES:
            return self.rules.allows(agent, url)
        return self.kind is RobotsKind.NONE

    def is_fresh(self, now_s: float) -> bool:
        """Whether it may be used at *now_s*; a wall clock that went back makes it stale."""
        return self.fetched_s <= now_s < self.expires_s

    def is_reported(self, now_s: float, *, limits: RobotsLimits | None = None) -> bool:
        """Whether the host has been closed for so long (30 days) that people must be told."""
        report_s = (limits or RobotsLimits()).report_s
        return self.since_s is not None and now_s - self.since_s >= report_s


def judge_robots(
    answer: Response | Failure,
    *,
    now_s: float,
    previous: RobotsState | None = None,
    limits: RobotsLimits | None = None,
) -> RobotsState:
    """Turn the answer to a request for robots.txt, redirects followed, into the host's state.

    Args:
        answer: response or failure at the end of the redirects.
        now_s: wall time.
        previous: what was known before, if anything.
        limits: ages and pauses.
    """
    limits = limits or RobotsLimits()
    if isinstance(answer, Failure):
        detail = f"{answer.kind.value}: {answer.detail}" if answer.detail else answer.kind.value
        if answer.kind in _ENDLESS:
            return RobotsState(RobotsKind.NONE, _NOTHING, now_s, now_s + limits.ttl_s, detail)
        return _unreachable(detail, 0, answer.retry_after_s, now_s=now_s, previous=previous, limits=limits)
    status = answer.status
    if _OK <= status < _REDIRECTION:
        return _rules(answer, now_s=now_s, limits=limits)
    if status == _NOT_MODIFIED and previous is not None and previous.kind is not RobotsKind.UNREACHABLE:
        expires_s = now_s + _age_s(answer, limits)
        return replace(previous, fetched_s=now_s, expires_s=expires_s, failures=0, since_s=None)
    if _CLIENT_ERROR <= status < _SERVER_ERROR and status != _TOO_MANY_REQUESTS:
        expires_s = now_s + _age_s(answer, limits)
        return RobotsState(RobotsKind.NONE, _NOTHING, now_s, expires_s, f"status {status}", status)
    wait = read_retry_after(answer.header("retry-after"), now_s=now_s)
    told = " and was not followed" if status in REDIRECTS else ""
    return _unreachable(
        f"status {status}{told}",
        status,
        wait.seconds if wait else None,
        now_s=now_s,
        previous=previous,
        limits=limits,
    )


def _rules(answer: Response, *, now_s: float, limits: RobotsLimits) -> RobotsState:
    rules = parse(answer.body)
    detail = f"status {answer.status}"
    if not rules.has_groups:
        start = answer.body[:512].lstrip().lower()
        is_html = start.startswith((b"<!doctype", b"<html", b"<head", b"<?xml"))
        if is_html or "html" in answer.header("content-type").lower():
            detail += ", a page instead of rules"
        else:
            detail += ", no group in it"
    if answer.cut or len(answer.body) > limits.max_bytes:
        detail += f", cut: only the first {limits.max_bytes} bytes of it were read"
    return RobotsState(
        RobotsKind.RULES,
        rules,
        now_s,
        now_s + _age_s(answer, limits),
        detail,
        answer.status,
        etag=answer.header("etag"),
        last_modified=answer.header("last-modified"),
    )


def _age_s(answer: Response, limits: RobotsLimits) -> float:
    """How long an answer may be used: what ``Cache-Control`` says, within our bounds."""
    control = answer.header("cache-control")
    if _NO_STORE.search(control):
        return limits.min_ttl_s
    age = _MAX_AGE.search(control)
    if age is None:
        return limits.ttl_s
    return min(limits.ttl_s, max(limits.min_ttl_s, float(age[1])))


def _unreachable(  # noqa: PLR0913 - the facts of one failure
    detail: str,
    status: int,
    wait_s: float | None,
    *,
    now_s: float,
    previous: RobotsState | None,
    limits: RobotsLimits,
) -> RobotsState:
    before = previous if previous is not None and previous.kind is RobotsKind.UNREACHABLE else None
    failures = before.failures + 1 if before else 1
    pause_s = min(limits.max_retry_s, limits.retry_s * 2 ** min(failures - 1, _MAX_DOUBLINGS))
    since_s = before.since_s if before and before.since_s is not None else now_s
    return RobotsState(
        RobotsKind.UNREACHABLE,
        _NOTHING,
        now_s,
        now_s + max(pause_s, wait_s or 0.0),
        detail,
        status,
        failures=failures,
        since_s=min(since_s, now_s),
    )
