"""The role matrix of the reference, printed from the route table.

``python -m ingather.web.role_matrix docs/reference/http.md`` renews it; a test compares.
"""

import sys
from pathlib import Path

from ingather.web.routes import ROUTES

__all__ = ["renewed", "role_table"]

_BEGIN = "<!-- role matrix: made from ingather.web.routes -->\n"
_END = "<!-- end of role matrix -->"


def role_table() -> str:
    """Return the matrix as a Markdown table."""
    lines = ["| listener | path | methods | role | what it is |", "|---|---|---|---|---|"]
    lines += [
        f"| {e.listener} | `{e.path}` | {' '.join(_spoken(e.methods))} | {e.role} | {e.purpose} |"
        for e in ROUTES
    ]
    return "\n".join(lines) + "\n"


def renewed(page: str) -> str:
    """Return the reference page with its matrix made anew."""
    head, begin, rest = page.partition(_BEGIN)
    _, end, tail = rest.partition(_END)
    if not (begin and end):
        msg = "the page lacks the two marks of the role matrix"
        raise ValueError(msg)
    return f"{head}{begin}\n{role_table()}\n{end}{tail}"


def _spoken(methods: tuple[str, ...]) -> tuple[str, ...]:
    return ("GET", "HEAD", *methods[1:]) if methods[0] == "GET" else methods


if __name__ == "__main__":
    _path = Path(sys.argv[1])
    _path.write_text(renewed(_path.read_text("utf-8")), "utf-8")
