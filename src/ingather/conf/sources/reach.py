"""Keys of ``[source.NAME]`` that say how its hosts are reached: protocols beside http, credentials, proxies.

They are kept in one value of the source, :class:`ReachConf`, as its keys for feeds are in
:class:`ingather.conf.sources.syndication.SyndicationConf`.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields
from typing import Final

from ingather.conf.settings.kinds import Kind, Setting, Value
from ingather.conf.sources.credentials import CredentialConf
from ingather.errors import UnitError
from ingather.model.proxies import read_ways

__all__ = ["REACH_KEYS", "ReachConf", "bypassed", "reach_field", "reach_trouble", "reach_value"]


@dataclass(frozen=True, slots=True)
class ReachConf:
    """How a source's hosts are reached; the settings of the same names tell more.

    Attributes:
        public: everybody may find its documents although they came with credentials or out of files.
        credentials: names of the credentials that go along with its requests.
        cookies: whether it keeps cookies of its hosts.
        logins: no key: all credentials of the file.
        roots: folders of this machine below which file URLs of it may lie; none = no files.
        file_hidden: patterns of names that begin with a dot and are taken all the same.
        file_links: symbolic links are followed as long as they stay below their root.
        file_metadata: owner, group and mode of files become attributes.
        ftp_active: FTP servers connect to us for data.
        ftps_implicit: TLS begins with the connection at every port of ftps, not at 990 alone.
        host_keys: fingerprints of the keys of SSH servers, each for all hosts or with a host's name before it.
        known_hosts: file of OpenSSH's form with such keys; ``""`` = none.
        ssh_key: file of the private key with which SSH servers are asked; ``""`` = the password of the credential.
        proxy: proxies, or a PAC file, of its requests (:func:`ingather.model.proxies.read_ways`); empty = those of all.
        no_proxy: hosts that are asked directly; ``None`` = those of all.
        proxy_credentials: names of the credentials for its proxies; empty = those of all.
        webdav: folders of http servers are asked with PROPFIND.
        smb_guest: SMB servers are asked as a guest where there is no credential.
        javascript: ``off``, ``auto`` or ``always``: whether pages are read as their scripts make them.
    """

    public: bool = False
    credentials: tuple[str, ...] = ()
    cookies: bool = False
    logins: tuple[CredentialConf, ...] = ()
    roots: tuple[str, ...] = ()
    file_hidden: tuple[str, ...] = ()
    file_links: bool = False
    file_metadata: bool = False
    ftp_active: bool = False
    ftps_implicit: bool = False
    host_keys: tuple[str, ...] = ()
    known_hosts: str = ""
    ssh_key: str = ""
    proxy: tuple[str, ...] = ()
    no_proxy: tuple[str, ...] | None = None
    proxy_credentials: tuple[str, ...] = ()
    webdav: bool = False
    smb_guest: bool = False
    javascript: str = "off"


REACH_KEYS: tuple[Setting, ...] = (
    Setting("source", "public", Kind.FLAG, default=False,
            help="Whether everybody may find its documents although they were fetched with credentials, or are files. "
            "Else they are shown by their ACLs, by policy rules and by acl alone. true is logged at each start."),
    Setting("source", "credentials", Kind.WORDS, (),
            "Names of the [credential.NAME] tables that go along with its requests, each for the URLs that it is for."),
    Setting("source", "cookies", Kind.FLAG, default=False,
            help="Whether cookies of its hosts are kept and sent back, within this source and until the program ends."),
    Setting("source", "roots", Kind.WORDS, (),
            'Folders of this machine whose files it may gather when file is among its schemes: "/srv/docs". None written: no file.'),
    Setting("source", "file-hidden", Kind.WORDS, (),
            'Names that begin with a dot and are gathered all the same: ".well-known", ".*". None written: no hidden file or folder.'),
    Setting("source", "file-links", Kind.FLAG, default=False,
            help="Whether symbolic links are followed as long as they stay below their root. Else they are left out."),
    Setting("source", "file-metadata", Kind.FLAG, default=False,
            help="Whether owner, group and mode of files become the attributes file-owner, file-group and file-mode."),
    Setting("source", "ftp-active", Kind.FLAG, default=False,
            help="Whether FTP servers connect to us for data (PORT). Else we connect to them (PASV, EPSV)."),
    Setting("source", "ftps-implicit", Kind.FLAG, default=False,
            help="Whether TLS begins with the connection at every port of ftps. Else at port 990 alone, and elsewhere after AUTH TLS."),
    Setting("source", "host-keys", Kind.WORDS, (),
            'Fingerprints of the keys of SFTP servers, as ssh-keygen -lf shows them: "files.example SHA256:...", or for all hosts "SHA256:...".'),
    Setting("source", "known-hosts", Kind.TEXT, "",
            "File in the form of OpenSSH's known_hosts with keys of SFTP servers, a whole path. Without it and host-keys none is believed."),
    Setting("source", "ssh-key", Kind.TEXT, "",
            "File of the private key with which SFTP servers are asked, a whole path; readable by its owner alone. "
            "The user, and the key's passphrase as password, are those of the credential. Empty: the credential's password."),
    Setting("source", "webdav", Kind.FLAG, default=False,
            help="Whether http servers are asked for what their folders (URLs that end in /) hold: WebDAV's PROPFIND. Else they are pages."),
    Setting("source", "smb-guest", Kind.FLAG, default=False,
            help="Whether SMB servers are asked as a guest where no credential is for the URL. Nothing that a guest gets is signed or encrypted."),
    Setting("source", "proxy", Kind.WORDS, (), lone=True,
            help='Proxy of its requests, as in proxy.url: "http://proxy.example:3128", "direct", or a PAC file. '
            "Not written: robot.conf's auto-proxy, or proxy.url."),
    Setting("source", "no-proxy", Kind.WORDS, (), lone=True,
            help='Hosts of it that are asked directly: "intranet.example", ".example", "10.0.0.0/8", "<local>". Not written: proxy.no-proxy.'),
    Setting("source", "proxy-credentials", Kind.WORDS, (), lone=True,
            help="Names of the [credential.NAME] tables whose url is a proxy of it. Not written: proxy.credentials."),
    Setting("source", "javascript", Kind.CHOICE, "off",
            "Whether pages are read as their scripts make them, with a browser. auto: those that have next to nothing without; always: all that have "
            "scripts. Section javascript has the limits.", choices=("off", "auto", "always")),
)  # fmt: skip

_FIELDS: Final = frozenset(one.name for one in fields(ReachConf))


def reach_field(key: str) -> str:
    """Return the field of :class:`ReachConf` that *key* sets, ``""`` if it is none of them."""
    name = key.replace("-", "_")
    return name if name in _FIELDS else ""


def reach_trouble(reach: ReachConf, schemes: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield (key, what has no effect) for keys and schemes of a source that need one another.

    Args:
        reach: its keys of this page.
        schemes: its schemes.
    """
    if "file" in schemes and not reach.roots:
        yield "schemes", 'there are no files without roots: write roots = ["/srv/docs"]'
    if "sftp" in schemes and not (reach.host_keys or reach.known_hosts):
        yield "schemes", "no SFTP server is believed without host-keys or known-hosts"
    for key, needed in _NEEDS.items():
        if getattr(reach, reach_field(key)) and not set(needed) & set(schemes):
            yield key, f"it belongs to schemes {', '.join(needed)}"


def reach_value(key: str, value: Value) -> object:
    """Return the value of *key* as :class:`ReachConf` has it.

    Raises:
        UnitError: it is none.
    """
    if key not in _KEYS:
        raise UnitError(f"{key} is no key of a source's reach")
    if key == "proxy":
        read_ways(str(text) for text in value) if isinstance(value, tuple) else None
    read = _READERS.get(key)
    if read is None or not value:
        return value
    return tuple(read(text) for text in value) if isinstance(value, tuple) else read(str(value))


def _folder(text: str) -> str:
    if not text.startswith("/") or "\0" in text or ".." in text.split("/"):
        raise UnitError(f"{text!r} is not the whole path of a folder", hint='write it like "/srv/docs"')
    return "/" + "/".join(part for part in text.split("/") if part not in {"", "."})


def _hidden(text: str) -> str:
    if not text.startswith(".") or "/" in text:
        raise UnitError(f"{text!r} is no pattern of hidden names", hint='write it like ".well-known" or ".*"')
    return text


def bypassed(text: str) -> str:
    """Read a host that is asked without a proxy.

    Raises:
        UnitError: it is none.
    """
    if not _BYPASSED.match(text):
        raise UnitError(
            f"{text!r} is no host", hint='write "intranet.example", ".example", "10.0.0.0/8" or "<local>"'
        )
    return text


def _host_key(text: str) -> str:
    if not _HOST_KEY.match(text):
        raise UnitError(
            f"{text!r} is no fingerprint of a host key", hint='write it like "files.example SHA256:..."'
        )
    return text.rstrip("=")


_NEEDS: Final = {
    "roots": ("file",),
    "file-hidden": ("file",),
    "file-links": ("file",),
    "file-metadata": ("file",),
    "ftp-active": ("ftp", "ftps"),
    "ftps-implicit": ("ftps",),
    "host-keys": ("sftp",),
    "known-hosts": ("sftp",),
    "ssh-key": ("sftp",),
    "webdav": ("http", "https"),
    "smb-guest": ("smb",),
}
_HOST_KEY: Final = re.compile(r"(?:\S+ +)?SHA256:[A-Za-z0-9+/]{43}=?\Z")
_BYPASSED: Final = re.compile(r"<local>(?::\d{1,5})?\Z|[^\s<>,;@]+\Z")
_READERS: Final = {
    "roots": _folder,
    "file-hidden": _hidden,
    "host-keys": _host_key,
    "known-hosts": _folder,
    "ssh-key": _folder,
    "no-proxy": bypassed,
}
_KEYS: Final = frozenset(setting.key for setting in REACH_KEYS)
