"""Who may push to a home, as its files and settings say: addresses, tokens, and who was turned away."""

from pathlib import Path

from ingather.app.home import Home
from ingather.conf.settings.values import Settings
from ingather.errors import UsageError
from ingather.feeds.senders import FeedTokens
from ingather.feeds.trust import Network, TrustList, TrustRight, parse_trusted

__all__ = ["feed_tokens", "networks_of", "refused_senders", "trust_list"]


def trust_list(feeds: Path, settings: Settings) -> TrustList:
    """Return the addresses that feeds are accepted from, and that pushed URLs are fetched from.

    *feeds*: the home's folder with the list.

    Raises:
        UsageError: a setting names what is no address.
    """
    return TrustList(
        feeds / "trusted", {right: networks_of(settings, f"feeds.{right}-from") for right in TrustRight}
    )


def feed_tokens(home: Home) -> FeedTokens:
    """Return the tokens that admit senders from anywhere."""
    return FeedTokens(home.feeds / "tokens")


def refused_senders(home: Home) -> Path:
    """Return the file with the senders that were turned away."""
    return home.feeds / "refused.json"


def networks_of(settings: Settings, name: str) -> tuple[Network, ...]:
    """Return the networks that the setting *name* lists.

    Raises:
        UsageError: one of them is none.
    """
    try:
        return tuple(network for word in settings.words(name) for network in parse_trusted(word))
    except UsageError as error:
        raise UsageError(f"{name}: {error.text}", hint=error.hint) from None
