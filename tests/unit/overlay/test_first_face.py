"""The library face: read, lookup, explain, diagnostics."""

from ingather.overlay import read


def test_the_example_of_the_room_s_docstring() -> None:
    overlay = read(b'site.com/ c:partner\nsite.com/pdf/ t:"Annual report"\n')
    assert overlay.lookup("http://site.com/pdf/2004.pdf") == {"c": ("partner",), "t": ("Annual report",)}
    assert overlay.diagnostics == ()
    assert "external_metadata.cfg:2" in str(overlay.explain("http://site.com/pdf/2004.pdf"))
