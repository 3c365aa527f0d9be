"""Named SQL out of ``queries.sql``: the text has one home, the code only names it."""

from importlib.resources import files

__all__ = ["SQL"]


def _load() -> dict[str, str]:
    found: dict[str, str] = {}
    text = files("ingather.catalog").joinpath("queries.sql").read_text("utf-8")
    for block in text.split("-- name: ")[1:]:
        name, _, body = block.partition("\n")
        lines = [line for line in body.splitlines() if not line.startswith("--")]
        found[name.strip()] = "\n".join(lines).strip()
    return found


SQL = _load()
