"""The certificate that a host shows, read and judged (RFC 5280; names by RFC 9525)."""

import ipaddress
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from cryptography import x509

from ingather.app.siteprobe.finding import Finding
from ingather.fetch.knocking import Shown

__all__ = ["judge_certificate", "matches", "told_certificate"]

_SOON_DAYS: Final = 30
_DAY_S: Final = 86_400.0
_MOST_NAMES: Final = 100


def told_certificate(shown: Shown, host: str, *, now_s: float) -> dict[str, Any]:
    """Return the certificate as a JSON object.

    ``subject``, ``issuer``, ``names`` (of the subject alternative name), ``not_before``, ``not_after`` (RFC 3339), ``days_left`` (negative:
    ended), ``matches`` *host*, ``valid`` (its chain is believed), ``trouble`` (why not), ``self_signed``, ``tls``, ``serial``; or ``error``.
    """
    if not shown.der:
        return {"error": shown.detail or shown.trouble}
    try:
        read = x509.load_der_x509_certificate(shown.der)
        subject, issuer = read.subject.rfc4514_string(), read.issuer.rfc4514_string()
        names = _names(read)
        begin, end = read.not_valid_before_utc, read.not_valid_after_utc
        serial = f"{read.serial_number:x}"
    except (ValueError, TypeError) as error:
        return {"error": f"it cannot be read: {error}", "valid": not shown.trouble, "trouble": shown.trouble}
    return {
        "subject": subject,
        "issuer": issuer,
        "names": names[:_MOST_NAMES],
        "not_before": _told(begin),
        "not_after": _told(end),
        "days_left": int((end.timestamp() - now_s) // _DAY_S),
        "begun": begin.timestamp() <= now_s,
        "matches": matches(host, names),
        "valid": not shown.trouble,
        "trouble": shown.trouble,
        "self_signed": subject == issuer,
        "serial": serial,
        "tls": shown.version,
        "address": shown.address,
    }


def matches(host: str, names: "list[str]") -> bool:
    """Whether a certificate with *names* is one for *host*: a wildcard stands for one whole label, the first."""
    bare = host.strip("[]").rstrip(".").lower()
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        first, _, rest = bare.partition(".")
        return any(
            name == bare or (name.startswith("*.") and bool(first) and "." in rest and name[2:] == rest)
            for name in (name.lower().rstrip(".") for name in names)
        )
    return any(name == str(address) for name in names)


def judge_certificate(told: dict[str, Any], host: str, port: int) -> Iterator[Finding]:
    """Yield what there is to say of a certificate."""
    if str(told.get("error", "")).startswith("requests go through"):
        yield Finding("certificate", "note", f"the certificate at port {port} is not seen: {told['error']}")
        return
    if told.get("error"):
        yield Finding(
            "certificate",
            "warning",
            f"no certificate at port {port}: {told['error']}",
            "ask by http, or mend the host",
        )
        return
    days, trouble = told["days_left"], told["trouble"]
    if trouble:
        yield Finding(
            "certificate", "problem", f"its chain is not believed: {trouble}",
            "mend the host (the chain whole, of an authority that this machine trusts); or verify-tls = false of its [source.NAME], "
            "if who listens on the way does not matter",
        )  # fmt: skip
    if not told["matches"]:
        yield Finding(
            "certificate", "problem", f"it is not for {host}, but for {', '.join(told['names'][:10]) or told['subject']}",
            "use one of these names for the site, or have the certificate made anew",
        )  # fmt: skip
    if days < 0:
        yield Finding("certificate", "problem", f"it ended {told['not_after']}", "have it renewed")
    elif not told["begun"]:
        yield Finding(
            "certificate", "problem", f"it begins {told['not_before']}", "look at the clocks of both machines"
        )
    elif days < _SOON_DAYS:
        yield Finding(
            "certificate", "warning", f"it ends in {days} days ({told['not_after']})", "have it renewed"
        )
    elif not trouble and told["matches"]:
        yield Finding("certificate", "ok", f"valid for {days} days, issued by {told['issuer']}")


def _names(read: x509.Certificate) -> list[str]:
    try:
        found = read.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    names = [*found.get_values_for_type(x509.DNSName)]
    return names + [str(address) for address in found.get_values_for_type(x509.IPAddress)]


def _told(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
