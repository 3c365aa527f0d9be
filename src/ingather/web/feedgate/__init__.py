"""The feed gate: what clients of a Google Search Appliance push to, on ports 19900 and 19902.

A reader of HTTP/1 of its own, because the clients are old and their feeds are large (GSA feeds specification,
sections 3 to 6). A connection's way: ``gate`` accepts it under the shares of ``guard``; ``wire`` reads, with or
without TLS; ``head`` parses; ``senders`` of the room feeds says whether the address may push; ``endpoints`` finds the
path; ``transfer`` undoes chunks and compression, ``shape`` picks the reader of the body (``multipart``,
``urlencoded``, or none), ``form`` and ``reception`` lead the feed into the spool; ``fields`` understands what the
form says; ``intake`` has the file made durable (``storing``, with those that wait beside it), gives it to the desk and only then
says ``Success`` (``answers``).
A refused body is read to its end and forgotten, so that the sender gets to see the reason.

The admin listener answers the same paths through ``intake``, with the admin token instead of an address.
"""

from ingather.connections import GateLimits
from ingather.web.feedgate.gate import Admission, FeedGate, Listening
from ingather.web.feedgate.intake import Doors, Intake
from ingather.web.feedgate.pages import DTD, VERSION
from ingather.web.feedgate.reception import BodyLimits
from ingather.web.feedgate.sender import Proxies
from ingather.web.feedgate.transfer import Ratio

__all__ = [
    "DTD",
    "VERSION",
    "Admission",
    "BodyLimits",
    "Doors",
    "FeedGate",
    "GateLimits",
    "Intake",
    "Listening",
    "Proxies",
    "Ratio",
]
