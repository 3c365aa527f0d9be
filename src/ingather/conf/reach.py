"""Keys of ``[source.NAME]`` that say how its hosts are reached: protocols beside http, credentials, proxies.

They are kept in one value of the source, :class:`ReachConf`, as its keys for feeds are in
:class:`ingather.conf.syndication.SyndicationConf`.
"""

from dataclasses import dataclass, fields
from typing import Final

from ingather.conf.credentials import CredentialConf
from ingather.conf.setting_kinds import Kind, Setting, Value
from ingather.errors import UnitError

__all__ = ["REACH_KEYS", "ReachConf", "reach_field", "reach_value"]


@dataclass(frozen=True, slots=True)
class ReachConf:
    """How a source's hosts are reached; the settings of the same names tell more.

    Attributes:
        public: everybody may find its documents although they came with credentials or out of files.
        credentials: names of the credentials that go along with its requests.
        cookies: whether it keeps cookies of its hosts.
        logins: no key: all credentials of the file.
    """

    public: bool = False
    credentials: tuple[str, ...] = ()
    cookies: bool = False
    logins: tuple[CredentialConf, ...] = ()


REACH_KEYS: tuple[Setting, ...] = (
    Setting("source", "public", Kind.FLAG, default=False,
            help="Whether everybody may find its documents although they were fetched with credentials, or are files. "
            "Else they are shown by their ACLs, by policy rules and by acl alone. true is logged at each start."),
    Setting("source", "credentials", Kind.WORDS, (),
            "Names of the [credential.NAME] tables that go along with its requests, each for the URLs that it is for."),
    Setting("source", "cookies", Kind.FLAG, default=False,
            help="Whether cookies of its hosts are kept and sent back, within this source and until the program ends."),
)  # fmt: skip

_FIELDS: Final = frozenset(one.name for one in fields(ReachConf))


def reach_field(key: str) -> str:
    """Return the field of :class:`ReachConf` that *key* sets, ``""`` if it is none of them."""
    name = key.replace("-", "_")
    return name if name in _FIELDS else ""


def reach_value(key: str, value: Value) -> object:
    """Return the value of *key* as :class:`ReachConf` has it.

    Raises:
        UnitError: it is none.
    """
    if key not in _KEYS:
        raise UnitError(f"{key} is no key of a source's reach")
    return value


_KEYS: Final = frozenset(setting.key for setting in REACH_KEYS)
