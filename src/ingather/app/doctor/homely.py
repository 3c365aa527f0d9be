"""The home's files: who may read and write them, and the room that is left on the disk."""

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ingather.app.certificatedates import not_after
from ingather.app.certificatesseen import kept_certificates, near_ends
from ingather.app.disk import headroom
from ingather.app.doctor.finding import Finding, error, fine, warning
from ingather.app.home import Home
from ingather.conf.settings.values import Settings
from ingather.errors import HomeError

__all__ = [
    "certificates_of",
    "check_certificates",
    "check_disk",
    "check_host_certificates",
    "check_permissions",
    "secrets_of",
]

_SHARED: Final = 0o077
_WRITABLE: Final = 0o022
_FOLDERS: Final = ("config", "catalog", "bodies", "index", "log", "run", "feeds")
_SECRETS: Final = (
    "admin-token",
    "credentials.toml",
    "secrets.json",
    "feeds/tokens",
    "feeds/certificate-key.pem",
)
_SECRET_SETTINGS: Final = (
    "feeds.certificate-key", "access.oidc-secret-file", "directory.bind-password-file", "notices.secret-file",
    "notices.mail-password-file",
)  # fmt: skip
_NETWORKED: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "afs", "ceph"})
_FEW_INODES: Final = 0.02
_MIB: Final = 1 << 20
_DAY_S: Final = 86_400.0
_SOON_S: Final = 30 * _DAY_S


def secrets_of(home: Home, settings: Settings) -> list[Path]:
    """Return the files with secrets that the home has or its settings name, whether they are there or not."""
    named = [home.path / text for name in _SECRET_SETTINGS if (text := settings.text(name).strip())]
    return list(dict.fromkeys([*(home.path / name for name in _SECRETS), *named]))


def certificates_of(home: Home, settings: Settings) -> list[Path]:
    """Return the files with certificates by which we are known to others, if they are there."""
    named = settings.text("feeds.certificate").strip()
    return [
        path for path in (home.path / named if named else home.feeds / "certificate.pem",) if path.exists()
    ]


def check_permissions(home: Home, settings: Settings) -> Iterator[Finding]:
    """Look at who may read secrets and write into the home, and whether we may."""
    found = list(_permissions(home, settings))
    yield from found
    if not found:
        yield fine("permissions", "the home is ours alone, secrets are closed")


def _permissions(home: Home, settings: Settings) -> Iterator[Finding]:
    user = os.geteuid()
    state = home.path.stat()
    if user == 0:
        yield warning(
            "permissions",
            "this runs as root",
            "run it as a user of its own: deploy/ingather.service shows how",
        )
    elif state.st_uid != user:
        yield error(
            "permissions",
            f"{home} belongs to user {state.st_uid}, this is {user}",
            "run it as the home's owner",
        )
    if state.st_mode & _WRITABLE:
        yield error("permissions", f"others may write into {home}", f"chmod 700 {home}")
    yield from _folders(home, user)
    yield from _secrets(home, settings)


def _folders(home: Home, user: int) -> Iterator[Finding]:
    for name in _FOLDERS:
        path = home.path / name
        if path.is_dir() and not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            yield error("permissions", f"{path} cannot be read and written", f"chown it to user {user}")
        elif path.is_dir() and path.stat().st_mode & _WRITABLE:
            yield error("permissions", f"others may write into {path}", f"chmod 700 {path}")


def _secrets(home: Home, settings: Settings) -> Iterator[Finding]:
    for path in secrets_of(home, settings):
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except FileNotFoundError:
            continue
        except OSError as trouble:
            yield error("permissions", f"{path}: {trouble.strerror}", "give this user access to it")
            continue
        if mode & _SHARED:
            yield error(
                "permissions", f"others may read the secret {path} (mode {mode:o})", f"chmod 600 {path}"
            )
    try:
        home.admin_token()
    except HomeError as trouble:
        if "read by others" not in trouble.text:
            yield error("permissions", trouble.text, trouble.hint or "")


def check_disk(home: Home, settings: Settings) -> Iterator[Finding]:
    """Look at the room that is left, and at what kind of file system it is."""
    reserve, share = settings.size("disk.reserve"), settings.share("disk.reserve-share")
    seen: set[int] = set()
    for path in (home.path, home.catalog, home.bodies, home.index):
        if not path.is_dir() or (device := path.stat().st_dev) in seen:
            continue
        seen.add(device)
        room = headroom(path, reserve_bytes=reserve, reserve_share=share)
        told = f"{room.free_bytes // _MIB:,} MiB are free below {path}, {room.reserve_bytes // _MIB:,} are the reserve"
        if not room.enough:
            yield error(
                "disk",
                f"{told}: no new work is begun",
                "make room, or lower disk.reserve and disk.reserve-share",
            )
        elif room.free_bytes < 2 * room.reserve_bytes:
            yield warning(
                "disk", f"{told}: it will soon be used up", "make room, or give the home a larger disk"
            )
        else:
            yield fine("disk", told)
        nodes = os.statvfs(path)
        if nodes.f_files and nodes.f_favail < nodes.f_files * _FEW_INODES:
            yield warning(
                "disk",
                f"{nodes.f_favail:,} files can still be made below {path}",
                "make room: inodes run out",
            )
        kind = _file_system(path)
        if kind in _NETWORKED:
            yield error(
                "disk", f"{path} is on {kind}, a file system of the network", "put the home on a local file system: the catalog's log needs it"
            )  # fmt: skip


def check_certificates(home: Home, settings: Settings) -> Iterator[Finding]:
    """Look at how long our certificates are good."""
    now_s = time.time()
    for path in certificates_of(home, settings):
        try:
            end_s = not_after(path)
        except (OSError, ValueError) as trouble:
            yield error(
                "certificates", f"{path} cannot be read: {trouble}", "feeds.certificate wants a PEM file"
            )
            continue
        days = (end_s - now_s) / _DAY_S
        do = f"renew it, or remove {path} so that a new one is made at the next start"
        if days < 0:
            yield error("certificates", f"{path} ended {-days:.0f} days ago", do)
        elif end_s - now_s < _SOON_S:
            yield warning("certificates", f"{path} ends in {days:.0f} days", do)
        else:
            yield fine("certificates", f"{path} is good for {days:.0f} days")


def check_host_certificates(home: Home) -> Iterator[Finding]:
    """Tell until when the certificates of crawled hosts are good, as ``serve`` saw them last; nobody is asked."""
    now_s, known = time.time(), kept_certificates(home.run)
    soon = list(near_ends(home.run, now_s))
    for name, end_s in soon:
        days = (end_s - now_s) / _DAY_S
        text = f"of {name} ended {-days:.0f} days ago" if days < 0 else f"of {name} ends in {days:.0f} days"
        yield warning(
            "certificates",
            f"the certificate {text}",
            "tell who runs that host; its pages cannot be had when it has ended",
        )
    if known and not soon:
        yield fine("certificates", f"those of {len(known)} crawled hosts are not near their end")


def _file_system(path: Path) -> str:
    """Return the kind of file system that *path* is on, ``""`` if nobody says."""
    best, kind = "", ""
    try:
        lines = Path("/proc/self/mounts").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    real = os.path.realpath(path)
    for line in lines:
        words = line.split(" ")
        place = words[1].encode().decode("unicode_escape")
        inside = real == place or real.startswith(place.rstrip("/") + "/")
        if inside and len(place) >= len(best):
            best, kind = place, words[2]
    return kind
