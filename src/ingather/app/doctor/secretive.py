"""Secrets for hosts: whether those that are kept can be opened, and whether those that are wanted are kept."""

from collections.abc import Iterator, Mapping

from ingather.app.doctor.finding import Finding, error, fine, warning
from ingather.app.home import Home
from ingather.app.reaching.ledger import refusals
from ingather.app.secrets import KeyFile, SecretStore
from ingather.conf.settings.values import Settings
from ingather.conf.sources.credentials import CredentialConf
from ingather.conf.sources.source import SourceConf
from ingather.errors import UsageError

__all__ = ["check_secrets"]


def check_secrets(
    home: Home, settings: Settings, sources: Mapping[str, SourceConf], environment: Mapping[str, str]
) -> Iterator[Finding]:
    """Look at the store of secrets, its key, and the credentials of the sources."""
    for one in refusals(home.run):
        state = "suspended" if one.suspended else "waiting"
        text = f"credential {one.name} is {state} after {one.refused} refusals in a row: {one.text}"
        do = f"set its secret anew, or let it be tried again: ingather secret resume {one.name}"
        yield error("secrets", text, do) if one.suspended else warning("secrets", text, do)
    confs = {one.name: one for source in sources.values() for one in source.reach.logins}
    try:
        key = KeyFile.of(home.path, settings.text("secrets.key-file"), environment)
        store = SecretStore(home.path, key)
        kept = store.names()
        store.check()
    except UsageError as trouble:
        yield error("secrets", f"no secret is sent: {trouble.text}", trouble.hint or "bring it back")
        return
    missing = list(_missing(confs, kept))
    yield from missing
    if kept:
        told = f"{len(kept)} secrets can be opened; their key, {key.path}, is in no backup of the home: keep a copy of it"
        yield fine("secrets", told)
    elif not missing:
        yield fine("secrets", "there are none, and no credential wants one")


def _missing(confs: Mapping[str, CredentialConf], kept: Mapping[str, float]) -> Iterator[Finding]:
    for conf in confs.values():
        for name in conf.secrets:
            if name not in kept:
                text = f"credential {conf.name} wants the secret {name}, which was never set"
                yield warning("secrets", text, f"ingather secret set {name}")
