r"""External metadata: values laid over documents by URL prefix, from one text file.

``read(body)`` gives an :class:`Overlay`, a pure function of a file and its options: ``lookup(url)`` and
``lookup_key(key)`` say what a document gets, ``explain(url)`` why, ``diagnostics`` what is wrong with the file.
Nothing here knows a home, a clock or the catalog.

    >>> overlay = read(b'site.com/ c:partner\nsite.com/pdf/ t:"Annual report"\n')
    >>> overlay.lookup("http://site.com/pdf/2004.pdf")
    {'c': ('partner',), 't': ('Annual report',)}
"""

from ingather.overlay.explaining import ClassStory, Explanation, Step, explain, terms
from ingather.overlay.findings import ERRORS, WARNINGS, Counts, log_line
from ingather.overlay.laid import Overlay, fingerprint
from ingather.overlay.layers import Layers
from ingather.overlay.options import DATES, RESERVED, SINGLE, Options
from ingather.overlay.reading import overlay_of, read
from ingather.overlay.record import Record, print_line, print_records

__all__ = [
    "DATES",
    "ERRORS",
    "RESERVED",
    "SINGLE",
    "WARNINGS",
    "ClassStory",
    "Counts",
    "Explanation",
    "Layers",
    "Options",
    "Overlay",
    "Record",
    "Step",
    "explain",
    "fingerprint",
    "log_line",
    "overlay_of",
    "print_line",
    "print_records",
    "read",
    "terms",
]
