"""Reports about the robot (section 11 of its specification): what was found, what went wrong, what is next, and why.

``table`` is what a report gives, ``writing`` its three forms; ``about``, ``hosts``, ``visits`` and ``documents`` make
them; ``desk`` knows all of them by name and is what CLI and HTTP ask; ``runs`` is the history of runs.
"""
