"""The original's command shape: ``ValidateExternalMetadata collection=ID mode=check|concatenate errorThreshold=F``.

Installed as a command of that name, so that a ``pre_index_command`` need not be written anew. The home is
``home=PATH``, else as for every verb.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from ingather.errors import UsageError

__all__ = ["main", "run"]

_SPELLINGS: Final = {
    "collection": "collection",
    "mode": "mode",
    "errorthreshold": "errorThreshold",
    "errorthreshhold": "errorThreshold",  # so the vendor's own instructions had it
    "force": "force",
    "home": "home",
}
_TRUE: Final = frozenset({"true", "yes", "on", "1"})
_FALSE: Final = frozenset({"false", "no", "off", "0"})


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run with *arguments* (default: this process' own) and exit: 0 accepted, 1 refused, 2 usage, 3 input or output."""
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: Sequence[str]) -> int:
    """Return the exit status."""
    from ingather.cli.home_option import default_home
    from ingather.cli.overlay_check import validated
    from ingather.cli.trouble import status_of

    words = list(arguments)
    if words[:1] == ["ValidateExternalMetadata"]:  # as mediator.pl was called
        del words[0]
    try:
        given = _given(words)
        home = Path(given["home"]) if "home" in given else default_home()
        return validated(
            home,
            given["collection"],
            given["mode"],
            given.get("errorThreshold", "0"),
            force=given.get("force", "false").lower() in _TRUE,
        )
    except Exception as error:
        status = status_of(error)
        if status is None:
            raise
        return status


def _given(words: Sequence[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        name = _SPELLINGS.get(key.lower())
        if not equals or name is None:
            raise UsageError(
                f"{word!r} is not understood",
                hint="usage: ValidateExternalMetadata collection=ID mode=check|concatenate errorThreshold=F",
            )
        if name in given:
            raise UsageError(f"{name} is given twice")
        given[name] = value
    for name in ("collection", "mode"):
        if not given.get(name):
            raise UsageError(f"{name}= is missing")
    if given["mode"] not in {"check", "concatenate"}:
        raise UsageError(f"mode={given['mode']} is neither check nor concatenate")
    if given.get("force", "false").lower() not in _TRUE | _FALSE:
        raise UsageError(f"force={given['force']} is neither true nor false")
    return given


if __name__ == "__main__":
    main()
