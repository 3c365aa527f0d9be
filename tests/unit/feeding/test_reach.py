"""Where the crawler may go for what feeds push."""

from pathlib import Path

from ingather.app.gatherer import pushed_scope
from ingather.feeds.trust import TrustList


def test_a_trusted_sender_is_a_target_and_everybody_is_none(tmp_path: Path) -> None:
    trusted = TrustList(tmp_path / "trusted")
    assert pushed_scope("s", trusted).addresses == ()
    trusted.add("10.1.2.3")
    trusted.add("all")
    assert pushed_scope("s", trusted).addresses == ("10.1.2.3/32",)
    assert pushed_scope("s", trusted).hosts == ("*",)
