"""``ingather site`` and ``ingather converter`` on a home that nobody serves."""

import shutil
from pathlib import Path

import pytest

from ingather.conf import load
from ingather.testing.rig import Ran, Rig


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "home"
    Rig(path).init()
    return path


@pytest.fixture
def rig(made: Path, tmp_path: Path) -> Rig:
    """A fresh home, copied: making one takes longer."""
    shutil.copytree(made, tmp_path / "home")
    return Rig(tmp_path / "home")


@pytest.fixture(scope="module")
def two(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Rig:
    """A home with the site two.example, for what changes nothing."""
    path = tmp_path_factory.mktemp("two") / "home"
    shutil.copytree(made, path)
    rig = Rig(path)
    done(rig.call("site", "add", "two.example"))
    return rig


def rules(rig: Rig) -> bytes:
    return (rig.path / "config" / "filterrules.conf").read_bytes()


def done(ran: Ran) -> Ran:
    assert ran.status == 0, ran
    return ran


def test_a_site_from_add_to_delete(rig: Rig) -> None:
    before = rules(rig)
    told = done(
        rig.call(
            "site", "add", "intranet.example", "--domain", "--depth", "3", "--database", "news", "--delay", "2.5", "--connections", "1",
            "--start", "https://www.intranet.example/", "--protocol", "http,https", "--port", "80", "--port", "8080", "--rule", "Archive",
            "--name", "intranet",
        )
    )  # fmt: skip
    assert told.out == "site intranet added; version 2 is in force, the next start works by it\n"
    (site,) = load(rig.path / "config").rules.sites
    assert (site.name, site.host, site.domain, site.depth, site.database, site.delay_s, site.connections) == (
        "intranet", "intranet.example", True, 3, "news", 2.5, 1,
    )  # fmt: skip
    assert ([s.url for s in site.starts], set(site.ports), site.use or ()) == (
        ["https://www.intranet.example/"],
        {80, 8080},
        ("Archive",),
    )
    shown = done(rig.call("site", "show", "intranet.example")).out
    assert "  delay: 2.5 s\n" in shown
    assert "  starts at: https://www.intranet.example/\n" in shown
    listed = done(rig.call("site", "list", "--json")).json
    assert (listed["starting_points"], [s["name"] for s in listed["sites"]]) == (1, ["intranet"])
    assert "1 site; starting points: 1 defined" in done(rig.call("site", "list")).out
    assert done(rig.call("site", "list", "--disabled")).out.startswith("0 sites")
    done(
        rig.call(
            "site",
            "set",
            "intranet",
            "--delay",
            "7",
            "--unset",
            "database",
            "--start",
            "http://b.intranet.example/",
        )
    )
    (site,) = load(rig.path / "config").rules.sites
    assert (site.delay_s, site.database, len(site.starts)) == (7.0, "", 2)
    done(rig.call("site", "set", "intranet", "--unset", "start", "--unset", "rule", "--server", "--yes"))
    (site,) = load(rig.path / "config").rules.sites
    assert (site.domain, site.starts, site.use) == (False, (), ())
    done(rig.call("site", "delete", "intranet"))
    assert rules(rig) == before
    assert rig.call("conf", "history", "--json").json[0]["note"] == "site intranet deleted"


def test_the_last_starting_point_is_not_switched_off_without_a_word(rig: Rig) -> None:
    done(rig.call("site", "add", "one.example"))
    before = rules(rig)
    for verb in ("disable", "delete"):
        refused = rig.call("site", verb, "one.example")
        assert refused.status == 1
        assert "the robot would have 0 starting points" in refused.err
    told = done(rig.call("site", "disable", "one.example", "--dry-run"))
    assert "under it: 0 documents; 0 would be under no enabled site" in told.out
    assert "starting points: 0 defined then" in told.out
    assert rules(rig) == before
    done(rig.call("site", "disable", "one.example", "--yes"))
    assert b"enable=false" in rules(rig)
    assert "it is so already" in done(rig.call("site", "disable", "one.example")).out
    done(rig.call("site", "enable", "one.example"))
    assert rules(rig) == before
    assert [row["version"] for row in rig.call("conf", "history", "--json").json][:2] == [2, 3]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("show", "tow.example"), "did you mean two.example?"),
        (("add", "two.example"), "there is a site for two.example already"),
        (("add", "x y"), "is not a host"),
        (("add", "me:sesame@x.example"), "a site has no user names"),
        (("add", "x.example", "--delay", "soon"), "delay='soon' is not a number of seconds"),
        (("add", "x.example", "--connections", "0"), "0 is not in the range"),
        (("add", "x.example", "--port", "http"), "'http' is not a port"),
        (("set", "two.example"), "nothing to set"),
        (("set", "two.example", "--delay", "1", "--unset", "delay"), "delay is set and unset"),
        (
            ("set", "two.example", "--remove-start", "https://z.example/"),
            "does not start at https://z.example/",
        ),
    ],
    ids=lambda value: " ".join(value)[:40],
)
def test_wrong_use_is_one_line_and_exit_status_2(two: Rig, arguments: tuple[str, ...], told: str) -> None:
    before = rules(two)
    refused = two.call("site", *arguments)
    assert (refused.status, told in refused.err) == (2, True), refused
    assert "sesame" not in refused.err
    assert rules(two) == before


def test_credentials_and_sources_that_there_are_not_are_refused_with_their_place(rig: Rig) -> None:
    before = rules(rig)
    refused = rig.call("site", "add", "x.example", "--credentials", "robot")
    assert refused.status == 1
    assert "error E-CREDENTIAL: there are no credentials 'robot'" in refused.err
    assert "error E-SOURCE" in rig.call("site", "add", "x.example", "--source", "wbe").err
    assert rules(rig) == before


def test_an_edit_of_what_was_changed_meanwhile_is_refused(rig: Rig) -> None:
    done(rig.call("site", "add", "one.example"))
    etag = rig.call("site", "list", "--json").json["etag"]
    done(rig.call("site", "add", "two.example", "--etag", etag))
    refused = rig.call("site", "disable", "one.example", "--etag", etag)
    assert (refused.status, "changed since you looked at it" in refused.err) == (1, True)
    done(
        rig.call("site", "disable", "one.example", "--etag", rig.call("site", "list", "--json").json["etag"])
    )


def test_a_configuration_with_mistakes_is_not_edited(rig: Rig) -> None:
    (rig.path / "config" / "robot.conf").write_text("depth=deep\n")
    before = rules(rig)
    refused = rig.call("site", "add", "one.example")
    assert (refused.status, "robot.conf:1:7: error E-TYPE" in refused.err) == (1, True)
    assert rules(rig) == before
    assert done(rig.call("site", "list")).out.startswith("0 sites")


def test_the_old_verb_adds_a_site_too(rig: Rig) -> None:
    done(rig.call("conf", "new-site", "b.example", "--depth", "2"))
    (site,) = load(rig.path / "config").rules.sites
    assert (site.host, site.depth) == ("b.example", 2)


def test_a_converter_is_switched_off_and_on_and_the_version_is_the_old_one(rig: Rig) -> None:
    filters = rig.path / "config" / "filter.conf"
    before = filters.read_bytes()
    first = done(rig.call("converter", "list", "--json")).json
    pdf = next(row for row in first["converters"] if row["type"] == "application/pdf")
    assert (pdf["reader"], pdf["enabled"], pdf["line"]) == (
        "pdf",
        True,
        "Data fn=convert-to-html type=application/pdf",
    )
    assert all(row["reader"] for row in first["converters"]), "what is shipped has a reader"
    told = done(rig.call("converter", "disable", "application/pdf"))
    assert told.out.startswith("converter application/pdf disabled; version 2")
    assert filters.read_bytes() == before.replace(
        b"\nData fn=convert-to-html type=application/pdf\n",
        b"\nData enable=false fn=convert-to-html type=application/pdf\n",
    )
    rows = rig.call("converter", "list", "--json").json["converters"]
    assert [row["type"] for row in rows if not row["enabled"]] == ["application/pdf"]
    told = done(rig.call("converter", "enable", "Application/PDF"))
    assert "version 1 is in force" in told.out
    assert filters.read_bytes() == before
    done(rig.call("converter", "disable", "pdf"))
    assert filters.read_bytes().count(b"Data enable=false fn=convert-to-html") == 3
    done(rig.call("converter", "enable", "pdf"))
    assert filters.read_bytes() == before


def test_a_type_without_a_line_gets_one(rig: Rig) -> None:
    done(rig.call("converter", "enable", "text/csv"))
    text = (rig.path / "config" / "filter.conf").read_text()
    assert "Data fn=convert-to-html type=unknown\nData fn=convert-to-html type=text/csv\n" in text
    done(rig.call("converter", "enable", "application/pdf", "--filter", "enumeration-default"))
    rows = rig.call("converter", "list", "--filter", "enumeration-default", "--json").json["converters"]
    assert [(row["type"], row["enabled"]) for row in rows] == [("application/pdf", True)]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("disable", "aplication/pdf"), "did you mean application/pdf"),
        (("enable", "image/png"), "there is no reader for 'image/png'"),
        (("disable", "text/csv"), "has no line that converts text/csv"),
        (("list", "--filter", "nope"), "there is no filter 'nope'"),
    ],
)
def test_what_cannot_be_switched(made: Path, arguments: tuple[str, ...], told: str) -> None:
    refused = Rig(made).call("converter", *arguments)
    assert (refused.status, told in refused.err) == (2, True), refused


def test_what_is_listed_of_files_with_mistakes_says_so(rig: Rig) -> None:
    file = rig.path / "config" / "filterrules.conf"
    assert rig.call("site", "list", "--json").json["mistakes"] == []
    with file.open("ab") as stream:
        stream.write(b'<Site name="half')
    for verb in ("site", "converter"):
        told = done(rig.call(verb, "list"))
        assert "filterrules.conf:" in told.err
        assert "error E-" in told.err
    file.unlink()
    told = done(rig.call("site", "list"))
    assert (told.out.startswith("0 sites"), "cannot read ./config/filterrules.conf" in told.err) == (
        True,
        True,
    )
    assert rig.call("site", "list", "--json").json["mistakes"]


def test_a_pattern_is_no_host(two: Rig) -> None:
    for pattern in ("*.example", "http://*.example/"):
        wrong = two.call("site", "add", pattern)
        assert (wrong.status, "--domain" in wrong.err) == (2, True)
