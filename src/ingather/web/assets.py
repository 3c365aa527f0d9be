"""Style sheets, scripts and images: read once at start, served from memory under names that carry their digest."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from ingather.web.failures import WebError

__all__ = ["Assets", "load_assets", "serve_asset"]

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_FOREVER = "public, max-age=31536000, immutable"
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class _Asset:
    body: bytes
    packed: bytes
    media_type: str
    etag: str


class Assets:
    """The files of ``web/static`` by their published names (``page.3f2a….css``).

    A request's path is looked up in a table and never becomes a file name.
    """

    def __init__(self, bodies: dict[str, bytes]) -> None:
        self._published: dict[str, _Asset] = {}
        self._names: dict[str, str] = {}
        for name, body in sorted(bodies.items()):
            stem, dot, suffix = name.rpartition(".")
            digest = hashlib.sha256(body).hexdigest()[:_DIGITS]
            published = f"{stem}.{digest}{dot}{suffix}"
            self._names[name] = f"/static/{published}"
            self._published[published] = _Asset(
                body, gzip.compress(body, 9, mtime=0), _TYPES[dot + suffix], f'W/"{digest}"'
            )

    def url(self, name: str) -> str:
        """Return the path under which the file *name* is served (KeyError: there is none)."""
        return self._names[name]

    def answer(self, request: Request, published: str) -> Response:
        """Answer a request for a published name: 200, 304, or 404 as :class:`WebError`."""
        asset = self._published.get(published)
        if asset is None:
            raise WebError(404, "not-found", "Not found.", hint="The start page is at /.")
        headers = {"etag": asset.etag, "cache-control": _FOREVER, "vary": "accept-encoding"}
        wanted = {
            tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")
        }
        if wanted & {asset.etag.removeprefix("W/"), "*"}:
            return Response(status_code=304, headers=headers)
        body = asset.body
        codings = {
            c.partition(";")[0].strip() for c in request.headers.get("accept-encoding", "").lower().split(",")
        }
        if "gzip" in codings and len(asset.packed) < len(body):
            body = asset.packed
            headers["content-encoding"] = "gzip"
        return Response(body, media_type=asset.media_type, headers=headers)


@cache
def load_assets() -> Assets:
    """Read the package's own files; once a process."""
    folder = files("ingather.web") / "static"
    return Assets({f.name: f.read_bytes() for f in folder.iterdir() if f.name.endswith(tuple(_TYPES))})


async def serve_asset(request: Request) -> Response:
    """``GET /static/{name}``."""
    return load_assets().answer(request, str(request.path_params["name"]))
