"""What a push leaves in memory: nothing, without the garbage collector, which comes by seldom."""

import gc
from pathlib import Path

import pytest

from ingather.testing.feedgate import open_gate
from ingather.testing.feeds import content, feed_xml, record
from ingather.testing.running import wait_until
from ingather.web.feedgate.reception import Reception

BODY = feed_xml(record("http://f.test/a", content("x")))


def request(media: str, body: bytes) -> bytes:
    head = f"POST /xmlfeed HTTP/1.1\r\nHost: gsa\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


def parts(**fields: bytes) -> bytes:
    made = [
        b'--B\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (name.encode(), value)
        for name, value in fields.items()
    ]
    return b"".join([*made, b"--B--\r\n"])


@pytest.mark.parametrize(
    "sent",
    [
        request("text/xml", BODY),
        request(
            "multipart/form-data; boundary=B", parts(feedtype=b"incremental", datasource=b"src", data=BODY)
        ),
        request("multipart/form-data; boundary=B", parts(feedtype=b"nonsense", datasource=b"src", data=BODY)),
    ],
    ids=["raw", "multipart", "refused"],
)
def test_a_push_holds_itself_in_no_circle(tmp_path: Path, sent: bytes) -> None:
    with open_gate(tmp_path / "gate") as gate:
        gate.talk(sent)
        gc.collect()
        gc.disable()
        try:
            for _ in range(5):
                assert gate.talk(sent).status in {200, 400}
            wait_until(
                lambda: not any(isinstance(one, Reception) for one in gc.get_objects()), timeout_s=30.0
            )
        finally:
            gc.enable()
