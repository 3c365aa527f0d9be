"""What the name service says, judged: does the name exist, what else is it called, has the other spelling the same addresses."""

from collections.abc import Iterator

from ingather.app.siteprobe.finding import Finding
from ingather.fetch.addresses import parse_address, refusal
from ingather.fetch.names import HostNames

__all__ = ["judge_names", "twin_of"]


def twin_of(host: str) -> str:
    """Return the name that *host* often has beside its own: with ``www.`` or without; ``""`` for addresses and single labels."""
    if parse_address(host.strip("[]")) is not None or "." not in host:
        return ""
    return host[4:] if host.startswith("www.") and host.count(".") > 1 else f"www.{host}"


def judge_names(names: HostNames, twin: HostNames | None = None) -> Iterator[Finding]:
    """Yield what there is to say of a host's names and addresses; *twin*: its other spelling."""
    if names.trouble or not names.addresses:
        yield Finding(
            "names", "problem", f"{names.host} has no address: {names.trouble or 'the name does not exist'}",
            "look at the spelling, and at the resolver of this machine (/etc/resolv.conf)",
        )  # fmt: skip
        return
    yield Finding("names", "ok", f"{names.host} has the addresses {', '.join(names.addresses)}")
    private = [text for text in names.addresses if _closed(text)]
    if private:
        yield Finding(
            "names", "note", f"not public: {', '.join(private)}",
            "if the host is yours, name the addresses in addresses of its [source.NAME]",
        )  # fmt: skip
    others = tuple(dict.fromkeys(name for name in (names.canonical, *names.aliases) if name))
    if others:
        yield Finding("names", "note", f"{names.host} is also called {', '.join(others)}")
    if twin is not None and twin.addresses and set(twin.addresses) & set(names.addresses):
        yield Finding(
            "names", "note", f"{twin.host} has an address in common with {names.host}",
            "if both show the same pages, make one an alias: ingather site aliases propose",
        )  # fmt: skip


def _closed(text: str) -> bool:
    address = parse_address(text)
    return address is None or bool(refusal(address, ()))
