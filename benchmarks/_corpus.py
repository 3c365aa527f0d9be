"""The benchmark's web site: real documentation pages out of Debian packages, served on loopback.

A folder of the site holds::

    packages/  the downloaded .deb files      unpacked/  what was in them
    site/      what is served                 pages.txt  the paths of all HTML pages, sorted
    nginx.conf, nginx.pid, error.log          the server's

Beside the packages' pages the site has list pages of 500 links each, in an order that is the same
at every build, and an entry page that names the lists and each document's own contents page: so
every page can be reached, those behind frames and scripts too.
"""

import gzip
import http.server
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

__all__ = ["PACKAGES", "Served", "build", "default_folder", "serve"]

PACKAGES = (
    "openjdk-17-doc", "cppreference-doc-en-html", "debian-handbook", "linux-doc-6.1", "octave-doc", "qtbase5-doc-html",
    "postgresql-doc-15", "erlang-doc", "sqlite3-doc", "python-django-doc", "python3.11-doc", "libglib2.0-doc", "libgtk-3-doc",
    "python-sympy-doc", "debian-policy", "developers-reference", "libboost1.74-doc",
)  # fmt: skip
"""Debian 12's; about 35,000 HTML pages of 31 KB."""

_LARGEST = 4_000_000
_LIST_LINKS = 500
_CONTENTS = frozenset({"index.html", "index.htm", "toc.html", "Contents.html"})
_HTML = frozenset({".html", ".htm"})


def default_folder() -> Path:
    """Return where the site is kept when nobody names a folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("INGATHER_BENCH_SITE") or Path(cache) / "ingather" / "bench")


# -- building -----------------------------------------------------------------------------------


def build(folder: Path, packages: tuple[str, ...] = PACKAGES) -> int:
    """Build the site in *folder* unless it stands there already; return its number of HTML pages.

    Needs ``apt-get`` and ``dpkg-deb``, and package lists that are up to date.
    """
    listing = folder / "pages.txt"
    if not listing.exists():
        site = folder / "site"
        for name in packages:
            if not (site / name).exists():
                _publish(_unpacked(name, folder), site / name)
        pages = sorted(
            str(path.relative_to(site))
            for path in site.rglob("*")
            if path.suffix in _HTML and path.parent != site and path.is_file()
        )
        _write_lists(site, pages)
        listing.write_text("".join(f"{page}\n" for page in pages))
    return len(listing.read_text().splitlines())


def _unpacked(name: str, folder: Path) -> Path:
    """Return the folder with the contents of package *name*."""
    packages, target = folder / "packages", folder / "unpacked" / name
    if target.exists():
        return target
    packages.mkdir(parents=True, exist_ok=True)
    if not any(packages.glob(f"{name}_*.deb")):
        print(f"downloading {name}", file=sys.stderr)
        command = ["apt-get", "download", "-q", name]
        subprocess.run(command, cwd=packages, check=True, stdout=subprocess.DEVNULL)
    archive = next(packages.glob(f"{name}_*.deb"))
    partial_target = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial_target, ignore_errors=True)
    partial_target.mkdir(parents=True)
    command = ["dpkg-deb", "-x", str(archive), str(partial_target)]
    subprocess.run(command, check=True)
    partial_target.rename(target)
    return target


def _publish(package: Path, target: Path) -> None:
    """Copy what a package has below usr/share; links inside the package become files, .html.gz become .html."""
    share, making = package / "usr/share", target.with_name(f"{target.name}.partial")
    shutil.rmtree(making, ignore_errors=True)
    for folder, _, names in os.walk(share):
        for name in names:
            path = Path(folder) / name
            source = _inside(path, package)
            if source is None or source.stat().st_size > _LARGEST:
                continue
            copy = making / path.relative_to(share)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith((".html.gz", ".htm.gz")):
                copy.with_suffix("").write_bytes(gzip.decompress(source.read_bytes()))
            else:
                shutil.copyfile(source, copy)
    making.rename(target)


def _inside(path: Path, package: Path) -> Path | None:
    """Return the file behind *path* when it lies in the same package."""
    if path.is_symlink():
        pointer = str(path.readlink())
        path = package / pointer.lstrip("/") if pointer.startswith("/") else path.parent / pointer
    return path if path.is_file() else None


def _write_lists(site: Path, pages: list[str]) -> None:
    mixed = list(pages)
    random.Random(1).shuffle(mixed)  # noqa: S311 - the same order at every build
    lists = []
    for start in range(0, len(mixed), _LIST_LINKS):
        lists.append(f"list-{start // _LIST_LINKS:03d}.html")
        (site / lists[-1]).write_text(_list_page(lists[-1], mixed[start : start + _LIST_LINKS]))
    (site / "index.html").write_text(_list_page("corpus", [*lists, *_contents(pages)]))


def _list_page(title: str, targets: list[str]) -> str:
    items = "".join(f'<li><a href="/{urllib.parse.quote(target)}">{target}</a></li>' for target in targets)
    return f"<!doctype html><html><head><title>{title}</title></head><body><ul>{items}</ul></body></html>"


def _contents(pages: list[str]) -> list[str]:
    """Return the contents pages that do not lie below another one."""
    found: dict[str, str] = {}
    for page in sorted(pages, key=lambda path: path.count("/")):
        folder, _, name = page.rpartition("/")
        parts = folder.split("/")
        if name in _CONTENTS and not any("/".join(parts[: n + 1]) in found for n in range(len(parts))):
            found[folder] = page
    return list(found.values())


# -- serving ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Served:
    """A site that answers at *url*; *server* says what serves it."""

    url: str
    host: str
    server: str


@contextmanager
def serve(folder: Path, port: int) -> Iterator[Served]:
    """Serve the site of *folder* on loopback; one that answers there already is taken as it is."""
    host = f"127.0.0.1:{port}"
    url = f"http://{host}/"
    if _answers(port):
        yield Served(url, host, f"what already answers at {url}")
        return
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx:
        with _nginx(nginx, folder, port):
            yield Served(url, host, "nginx")
    else:
        print(
            "no nginx here (apt-get install nginx-light): a small Python server takes its place",
            file=sys.stderr,
        )
        with _small_server(folder / "site", port):
            yield Served(url, host, "small Python server; install nginx for figures that count")


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=0.5):
            return True
    except OSError:
        return False


@contextmanager
def _nginx(nginx: str, folder: Path, port: int) -> Iterator[None]:
    user = "user root;\n" if os.geteuid() == 0 else ""
    configuration = folder / "nginx.conf"
    own = folder / "nginx"  # what it would else keep below /var/lib
    own.mkdir(exist_ok=True)
    configuration.write_text(
        f"""{user}worker_processes 1;
worker_rlimit_nofile 20000;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
events {{ worker_connections 4096; }}
http {{
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  access_log off;
  server_tokens off;
  sendfile on;
  tcp_nopush on;
  tcp_nodelay on;
  keepalive_timeout 75s;
  keepalive_requests 1000000;
  open_file_cache max=12000 inactive=10m;
  open_file_cache_valid 10m;
  client_body_temp_path {own}/body;
  proxy_temp_path {own}/proxy;
  fastcgi_temp_path {own}/fastcgi;
  uwsgi_temp_path {own}/uwsgi;
  scgi_temp_path {own}/scgi;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    root {folder}/site;
    index index.html index.htm;
  }}
}}
"""
    )
    server = subprocess.Popen([nginx, "-e", str(folder / "error.log"), "-c", str(configuration)])
    try:
        _wait_for(port, server)
        yield
    finally:
        server.terminate()
        server.wait(10)


def _wait_for(port: int, server: "subprocess.Popen[bytes]") -> None:
    pause = threading.Event()
    for _ in range(100):
        if _answers(port):
            return
        if server.poll() is not None:
            break
        pause.wait(0.05)
    raise SystemExit("the web server did not start")


class _Files(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True


@contextmanager
def _small_server(site: Path, port: int) -> Iterator[None]:
    with _Server(("127.0.0.1", port), partial(_Files, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()
