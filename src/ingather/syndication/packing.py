"""A listing as bytes, for the way from the gatherer to the keeper and for the catalog."""

import msgspec

from ingather.syndication.listing import Listing

__all__ = ["pack_listing", "unpack_listing"]

_encoder = msgspec.msgpack.Encoder(order="deterministic")
_decoder = msgspec.msgpack.Decoder(Listing)


def pack_listing(listing: Listing) -> bytes:
    """Return *listing* as msgpack; equal listings give equal bytes."""
    return _encoder.encode(listing)


def unpack_listing(packed: bytes) -> Listing:
    """Return the listing in *packed*.

    Raises:
        msgspec.DecodeError: not a listing of ours.
    """
    listing: Listing = _decoder.decode(packed)
    return listing
