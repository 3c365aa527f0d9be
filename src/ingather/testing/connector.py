"""A connector that pushes as Google's adaptor library does: lists of URLs and free ACLs, in its shape of request.

Source: GSA feeds specification, sections 4.2 (shape a) and 16.1.
"""

import re
import socket
from typing import Any

from ingather.testing.feeds import feed_xml
from ingather.testing.feedwire import exchange, multipart
from ingather.testing.running import Served, wait_until

__all__ = ["Connector"]

_BOUNDARY = b"<<"


class Connector:
    """Pushes to a running serve for one data source, and asks what became of it.

    Args:
        served: where to.
        datasource: its name, as adaptors make one.
        feedtype: of its feeds; adaptors send nothing but lists.
    """

    def __init__(
        self, served: Served, datasource: str = "repository", *, feedtype: str = "metadata-and-url"
    ) -> None:
        self._served, self._source, self._type = served, datasource, feedtype
        found = wait_until(lambda: re.search(r"http://127\.0\.0\.1:(\d+)/xmlfeed", served.running.out))
        self.address = ("127.0.0.1", int(found.group(1)))

    def push(self, *records: str) -> str:
        """Push records and ACLs; return the feed's name. An answer that is not ``Success`` to the letter ends an adaptor's listing.

        Raises:
            AssertionError: it is another one.
        """
        xml = feed_xml(*records, datasource=self._source, feedtype=self._type)
        reply = self._post(b"/xmlfeed", b"datasource", xml)
        assert reply[0] == b"Success", reply
        return reply[1]

    def push_groups(self, xml: str, kind: str = "incremental") -> str:
        """Push memberships; return the feed's name.

        Raises:
            AssertionError: they were not taken.
        """
        reply = self._post(b"/xmlgroups", b"groupsource", xml.encode(), kind)
        assert reply[0] == b"Success", reply
        return reply[1]

    def backlog(self) -> int:
        """Return what a client asks for before it goes on pushing."""
        return int(self._ask(b"GET /getbacklogcount HTTP/1.0\r\n\r\n")[0])

    def receipts(self, name: str) -> list[dict[str, Any]]:
        """Return the receipts of a feed, as far as it is applied."""
        _, records = self._served.admin(f"/api/v1/feeds/{name}/records")
        return [dict(record) for record in records]

    def receipt(self, name: str) -> dict[str, Any]:
        """Return the last receipt of a feed, ``{}`` as long as there is none."""
        return (self.receipts(name) or [{}])[-1]

    def _post(self, path: bytes, name: bytes, xml: bytes, kind: str = "") -> tuple[bytes, str]:
        body = multipart(
            _BOUNDARY,
            (name, b"", b"text/plain", self._source.encode()),
            (b"feedtype", b"", b"text/plain", (kind or self._type).encode()),
            (b"data", b"", b"text/xml", xml),
        )
        head = (
            b"POST %b HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=%b\r\nUser-Agent: Java/17.0.1\r\n"
            b"Host: 127.0.0.1:%d\r\nContent-Length: %d\r\n\r\n"
            % (path, _BOUNDARY, self.address[1], len(body))
        )
        return self._ask(head + body)

    def _ask(self, request: bytes) -> tuple[bytes, str]:
        with socket.create_connection(self.address, timeout=60) as sock:
            reply = exchange(sock, [request])
        return reply.body, reply.headers.get("x-feed-id", "")
