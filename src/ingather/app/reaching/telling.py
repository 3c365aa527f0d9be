"""Which URLs are asked for with which credential, told to people; never a secret."""

from collections.abc import Iterator

from ingather.app.configuration import Configuration
from ingather.app.credentials import read_credentials
from ingather.app.home import Home
from ingather.errors import UrlError, UsageError
from ingather.model.url import canonical

__all__ = ["told_credentials"]


def told_credentials(home: Home, configuration: Configuration, url: str = "") -> list[str]:
    """Return a line for each credential, those with the longest beginnings first.

    Args:
        home: with its ``credentials.toml``.
        configuration: sources and sites.
        url: only what may go along there; ``""`` = all.

    Raises:
        UsageError: *url* is none, or ``credentials.toml`` is wrong.
    """
    asked = ""
    if url:
        try:
            asked = canonical(url)
        except UrlError as error:
            raise UsageError(f"{url!r} is not a URL: {error.text}") from error
    found = [*_tables(configuration), *_file(home)]
    return [
        line
        for prefix, line in sorted(found, key=lambda one: -len(one[0]))
        if asked.startswith(prefix) or not url
    ]


def _tables(configuration: Configuration) -> Iterator[tuple[str, str]]:
    confs = {one.name: one for source in configuration.sources.values() for one in source.reach.logins}
    for conf in confs.values():
        users = [
            f"source {name}"
            for name, source in configuration.sources.items()
            if conf.name in source.reach.credentials
        ]
        users += [
            f"site {site.name}" for site in configuration.loaded.rules.sites if site.credentials == conf.name
        ]
        name = f"{conf.domain}\\{conf.user}" if conf.domain else conf.user
        who = f" as {name}" if name else ""
        yield (
            conf.url,
            f"{conf.url}  {conf.kind} {conf.name}{who}  for {', '.join(users) or 'nobody: no source names it'}",
        )


def _file(home: Home) -> Iterator[tuple[str, str]]:
    for entry in read_credentials(home.path):
        yield (
            entry.prefix,
            f"{entry.prefix}  as {entry.user}  for {', '.join(entry.sources) or 'every source'}",
        )
