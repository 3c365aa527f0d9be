"""What a request says: the fields of a small form or JSON object, and where it came from."""

import json
from urllib.parse import parse_qsl

from starlette.requests import Request

from ingather.web.failures import WebError

__all__ = ["flag", "peer", "read_fields", "single", "wants_page"]

_FORM = "application/x-www-form-urlencoded"
_FIELDS = 50


async def read_fields(request: Request) -> dict[str, str]:
    """Return the body's fields, from a form or a flat JSON object; read once, kept with the request.

    Numbers and booleans of JSON become text (``true``, ``12``).

    Raises:
        WebError: 415 another content type, 400 not readable as what it claims, 413 too long.
    """
    known = getattr(request.state, "fields", None)
    if isinstance(known, dict):
        return known
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if kind == "application/json":
        fields = _json_fields(body)
    elif kind == _FORM or (not kind and not body):
        fields = _form_fields(body)
    else:
        raise WebError(
            415,
            "unsupported-media-type",
            "This takes a JSON object or a form.",
            hint=f"Send application/json or {_FORM}.",
        )
    request.state.fields = fields
    return fields


def single(request: Request, name: str, default: str = "") -> str:
    """Return query parameter *name*.

    Raises:
        WebError: 400, it is given more than once.
    """
    values = request.query_params.getlist(name)
    if len(values) > 1:
        raise WebError(
            400, "bad-parameter", f"The parameter {name} is given {len(values)} times.", hint="Give it once."
        )
    return values[0] if values else default


def flag(text: str, name: str) -> bool:
    """Read a yes-or-no parameter; empty is no.

    Raises:
        WebError: 400, it is neither.
    """
    word = text.strip().lower()
    if word in {"", "0", "no", "false", "off"}:
        return False
    if word in {"1", "yes", "true", "on"}:
        return True
    raise WebError(
        400,
        "bad-parameter",
        f"The parameter {name} is neither yes nor no.",
        hint=f"Write {name}=1 or leave it out.",
    )


def peer(request: Request) -> str:
    """Return the address of the socket's other end; forwarding headers count for nothing."""
    return request.client.host if request.client else ""


def wants_page(request: Request) -> bool:
    """Say whether a person's browser asked: HTML is welcome, and this is no address for programs.

    A form of a page may be sent to such an address; its sender wants a page all the same.
    """
    path = request.url.path
    if request.method != "POST" and (path.startswith("/api/") or path in {"/health", "/metrics"}):
        return False
    return "text/html" in request.headers.get("accept", "")


def _json_fields(body: bytes) -> dict[str, str]:
    try:
        tree = json.loads(body)
    except (ValueError, RecursionError):
        raise WebError(
            400, "bad-json", "The body is not JSON.", hint="Send an object of names and values."
        ) from None
    if not isinstance(tree, dict) or len(tree) > _FIELDS:
        raise WebError(
            400, "bad-json", "The body is not a flat JSON object.", hint="Send an object of names and values."
        )
    fields = {}
    for name, value in tree.items():
        if isinstance(value, bool | int | float):
            fields[name] = json.dumps(value)
        elif isinstance(value, str):
            fields[name] = value
        elif value is not None:
            raise WebError(
                400,
                "bad-json",
                f"The value of {name[:40]} is not a plain value.",
                hint="Send text, a number or a boolean.",
            )
    return fields


def _form_fields(body: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            body.decode("utf-8"), keep_blank_values=True, strict_parsing=bool(body), max_num_fields=_FIELDS
        )
    except ValueError:
        raise WebError(
            400, "bad-form", "The form cannot be read.", hint="Send UTF-8 fields, name=value, at most 50."
        ) from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise WebError(400, "bad-form", "A field of the form is given twice.", hint="Give each field once.")
    return fields
