"""Configurations from texts, without a disk."""

from collections.abc import Callable

import pytest

from ingather.conf import Loaded, load_bodies

Configure = Callable[..., Loaded]

EMPTY = '<Filter name="{name}">\nData enable=false fn=clear-source src=x\n</Filter>\n'


@pytest.fixture
def configure() -> Configure:
    """Load texts; filters that robot.conf selects and the text does not define are added behind it."""

    def make(
        filters: str = "",
        *,
        robot: str = "",
        rules: str = "",
        mime: str = "text/html html htm\napplication/zip zip\n",
        complete: bool = True,
    ) -> Loaded:
        text = filters
        if complete:
            for name in ("enumeration-default", "generation-default"):
                if f'"{name}"' not in text:
                    text += EMPTY.format(name=name)
        bodies = {"filter.conf": text, "robot.conf": robot, "filterrules.conf": rules, "mime.types": mime}
        return load_bodies({name: body.encode() for name, body in bodies.items()})

    return make
