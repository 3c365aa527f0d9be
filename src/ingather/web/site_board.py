"""What the admin listener needs of sites and converters."""

from collections.abc import Mapping
from typing import Any, Protocol

__all__ = ["SiteBoard"]


class SiteBoard(Protocol):
    """Sites and converters; what ``ingather site`` and ``ingather converter`` do. Called from several threads.

    Edits raise ``UsageError``, ``ConfigurationError``, ``ConflictError`` (*match*, an etag, is not what there is) and
    ``ConsentError``; then nothing was changed.
    """

    def sites(self) -> Mapping[str, Any]:
        """Return all sites, with ``etag``."""

    def site(self, name: str) -> Mapping[str, Any]:
        """Return one site, by name or by host, with ``etag``."""

    def edit(
        self, verb: str, name: str, fields: Mapping[str, str], *, author: str, match: str
    ) -> Mapping[str, Any]:
        """Carry out ``add``, ``set``, ``enable``, ``disable`` or ``delete``; the answer has ``etag``."""

    def converters(self, filter_: str) -> Mapping[str, Any]:
        """Return the convert-to-html lines of a filter, ``""`` = the generation filter."""

    def switch(self, fields: Mapping[str, str], *, on: bool, author: str, match: str) -> Mapping[str, Any]:
        """Switch the conversion of the field ``type`` on or off."""
