"""What the network library can do: for reports."""

from typing import Any, Final

import pycurl

__all__ = ["library"]

_BITS: Final = "VERSION_"


def library() -> dict[str, Any]:
    """Return ``version`` of libcurl, its ``tls``, ``zlib`` and ``host``, the ``protocols`` and ``features`` it was built with."""
    found = pycurl.version_info()
    features = int(found[4])
    bits = {name.removeprefix(_BITS): getattr(pycurl, name) for name in dir(pycurl) if name.startswith(_BITS)}
    return {
        "version": str(found[1]),
        "pycurl": str(pycurl.version).partition(" ")[0],
        "host": str(found[3]),
        "tls": str(found[5]),
        "zlib": str(found[7]),
        "protocols": sorted(str(name) for name in found[8]),
        "features": sorted(name.lower().replace("_", "-") for name, bit in bits.items() if features & bit),
    }
