"""The six directives of a filter and when each runs (robot specification, section 2.1)."""

from enum import StrEnum

__all__ = ["Phase", "Role"]


class Phase(StrEnum):
    """A directive's keyword, in order of execution; Enumerate and Generate share one position."""

    SETUP = "Setup"
    METADATA = "MetaData"
    DATA = "Data"
    ENUMERATE = "Enumerate"
    GENERATE = "Generate"
    SHUTDOWN = "Shutdown"


class Role(StrEnum):
    """Which of the two independent filters judges: may links be followed, may there be an RD."""

    ENUMERATION = "enumeration"
    GENERATION = "generation"
