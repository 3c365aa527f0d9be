"""One way of a source that failed, as a line."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

__all__ = ["way_line"]


def way_line(item: Mapping[str, Any]) -> str:
    """Return the line of *item*, a form of :meth:`ingather.robot.keeper.Keeper.ways`."""
    until = datetime.fromtimestamp(item["until_s"], UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    when = f"resting until {until}" if item["in_s"] else "its rest is over, the next visit tries it"
    held = f", {item['waiting']} URLs of {item['hosts']} hosts held back" if item["hosts"] else ""
    return f"{item['way']} of source {item['source']}: {when} (failed {item['failures']} times in a row: {item['why']}){held}"
