"""A folder that stands before the installed packages for commands that tests start: what it has is absent there.

The tests' own tools bring packages that an installation does not have, and libraries use them where they find them
(structlog imports rich: a tenth of the time that a process takes to start).
"""
