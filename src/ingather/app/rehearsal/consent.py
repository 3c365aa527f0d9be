"""What a new configuration would cost, asked before it is published.

A replay runs the changed configuration over what is stored. When it would delete more than a
source's threshold allows, its diff is shown and a person has to say yes. What is published is
protected beside this: every deletion passes the deletion policy, which holds what is too much.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.rehearsal.replaying import replay_summary
from ingather.errors import CatalogError, ConsentError

__all__ = ["require_consent"]


def require_consent(
    home: Home,
    config: Path,
    *,
    yes: bool,
    tell: Callable[[str], Any],
    environment: Mapping[str, str] | None = None,
) -> None:
    """Show what the configuration in *config* would delete, and stop when that needs a person's word.

    Raises:
        ConfigurationError: it has errors.
        ConsentError: it would delete more than a source's threshold allows, and *yes* was not said.
    """
    if not database_of(home).exists():
        return
    try:
        summary = replay_summary(home, config, environment=environment)
    except CatalogError as error:
        tell(f"what this would delete cannot be told: {error.text}")
        return
    if not summary.passes_threshold:
        return
    tell(summary.text)
    if not yes:
        raise ConsentError(
            f"this would delete more documents than may go at once: {'; '.join(summary.why)}",
            hint="publish it all the same with --yes; what it deletes can be undone",
        )
