"""What a ``<Site>`` says beside its rules: pace, connections, credentials, database, protocols; and that it counts."""

import pytest

from ingather.app import wiring
from ingather.conf import Loaded, load_bodies, shipped
from ingather.conf.report import Report
from ingather.conf.settings.file import read_settings
from ingather.conf.sites.sitebook import SiteBook
from ingather.conf.sites.sitechecks import check_sites
from ingather.conf.sources.source import SourceConf
from ingather.fetch import RobotsLimits
from ingather.filters import Engine
from ingather.model.candidate import Candidate
from ingather.model.report import HostGrant
from ingather.robot.politeness.hostbook import HostBook
from ingather.robot.politeness.hosts import HostClock
from ingather.testing.clock import FakeClock

PACE = """<Site name=domain host=siroe.com type=domain delay=8 connections=4>
</Site>
<Site name=server host=www.siroe.com delay=2.5>
</Site>
<Site name=off host=old.siroe.com delay=99 enable=false>
</Site>
<Site name=quick host=quick.example delay=0 connections=100>
</Site>
"""


def loaded(rules: str) -> Loaded:
    return load_bodies(
        {name: text.encode() for name, text in {**shipped(), "filterrules.conf": rules}.items()}
    )


def found(rules: str) -> list[str]:
    return [str(d) for d in loaded(rules).diagnostics]


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("delay=soon", ":1:33: error E-TYPE: delay='soon' is not a number of seconds"),
        ("delay=-1", ":1:33: error E-TYPE: delay='-1' is not a number of seconds"),
        ("delay=2d", ":1:33: error E-RANGE: delay=2d is out of range; allowed: 0 to 86400"),
        ("connections=0", ":1:39: error E-RANGE: connections=0 is out of range; allowed: 1 to 100"),
        ("connections=101", ":1:39: error E-RANGE: connections=101 is out of range; allowed: 1 to 100"),
        ("connections=many", ":1:39: error E-TYPE: connections='many' is not a whole number"),
        (f"connections={'9' * 50}", "is out of range; allowed: 1 to 100"),
        ("conections=3", ":1:27: warning W-PARAM-UNKNOWN: unknown parameter 'conections'; did you mean connections?"),
        ("credential=robot", "W-PARAM-UNKNOWN: unknown parameter 'credential'; did you mean credentials?"),
        ('credentials="a b"', ":1:39: error E-CREDENTIAL: credentials= is not a name"),
        ('credentials=""', "E-CREDENTIAL: credentials= is not a name"),
    ],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place(header: str, told: str) -> None:
    (line,) = found(f"<Site name=s host=a.siroe {header}>\n</Site>\n")
    assert told in line


def test_what_may_be_a_secret_is_never_repeated() -> None:
    (line,) = found('<Site name=s host=a.siroe credentials="me:sesame">\n</Site>\n')
    assert "sesame" not in line


def test_a_protocol_line_takes_every_protocol() -> None:
    text = '<Site name=s host=a.siroe>\nProtocol allow="http,https,ftp,ftps,sftp,file,smb"\n</Site>\n'
    assert not found(text)
    assert found(text.replace("smb", "gopher")) == [
        "filterrules.conf:2:1: error E-RANGE: unknown protocol 'gopher'; allowed: http, https, ftp, ftps, sftp, file, smb"
    ]


def test_the_files_of_this_machine_are_a_site_without_ports() -> None:
    made = loaded('<Site name=files host="file:">\nProtocol allow=file\nPort allow=80\n</Site>\n')
    assert made.ok
    assert (made.rules.sites[0].host, set(made.rules.sites[0].protocols)) == ("", {"file"})


def policy(
    host: str, *, own: bool = False, source: SourceConf | None = None, robot: str = "server-delay=3"
) -> tuple[float, int]:
    configuration = load_bodies(
        {
            name: text.encode()
            for name, text in {**shipped(), "filterrules.conf": PACE, "robot.conf": robot}.items()
        }
    )
    site = SiteBook(configuration.rules.sites).of_host(host)
    settings = read_settings(b"").settings
    made = wiring.host_policy(settings, configuration.robot, source or SourceConf(), own=own, site=site)
    return made.least_delay(), made.most_connections()


def test_the_pace_of_a_host_is_that_of_its_most_specific_enabled_site() -> None:
    assert policy("www.siroe.com") == (2.5, 2)
    assert policy("a.b.siroe.com") == (8.0, 4)
    assert policy("old.siroe.com") == (8.0, 4), "a disabled site says nothing"
    assert policy("elsewhere.example") == (3.0, 2)
    assert policy("elsewhere.example", source=SourceConf(delay_s=7.0)) == (7.0, 2)
    assert policy("www.siroe.com", source=SourceConf(delay_s=7.0)) == (2.5, 2)


def test_no_delay_is_for_own_hosts_and_a_site_may_slow_one_of_ours() -> None:
    assert policy("quick.example") == (1.0, 100)
    assert policy("quick.example", own=True) == (0.0, 100)
    assert policy("www.siroe.com", own=True)[0] == 2.5
    assert policy("elsewhere.example", own=True)[0] == 0.0


def test_robots_txt_can_only_raise_the_delay_of_a_site() -> None:
    settings, made = read_settings(b"").settings, loaded(PACE)
    site = SiteBook(made.rules.sites).of_host("www.siroe.com")
    clock = HostClock(
        "www.siroe.com", wiring.host_policy(settings, made.robot, SourceConf(), own=False, site=site), 0.0
    )
    for asked, delay_s in ((1.0, 2.5), (9.0, 9.0), (None, 2.5)):
        clock.obey(asked)
        assert clock.delay_s == delay_s


def test_a_site_tells_with_whose_name_its_urls_are_fetched() -> None:
    book = SiteBook(
        loaded("<Site name=s host=siroe.com type=domain credentials=robot>\n</Site>\n").rules.sites
    )
    assert book.credentials_of("https://www.siroe.com/x") == "robot"
    assert book.credentials_of("https://siroe.org/") == ""


def test_what_only_the_settings_tell_right_from_wrong() -> None:
    sources = {"web": SourceConf(own_hosts=("ours.siroe.com:8080",))}
    text = (
        "<Site name=a host=siroe.com type=domain credentials=robt delay=0>\n</Site>\n"
        "<Site name=b host=b.example delay=0 source=wbe>\n</Site>\n<Site name=c host=ours.siroe.com delay=0>\n</Site>\n"
    )
    report = Report()
    check_sites(loaded(text).rules, sources, report, credentials=["robot"])
    assert [str(d) for d in report.sorted()] == [
        "filterrules.conf:1:53: error E-CREDENTIAL: there are no credentials 'robt'; did you mean robot?",
        "filterrules.conf:3:1: error E-SOURCE: there is no source 'wbe'; did you mean web?",
        "filterrules.conf:3:35: warning W-NO-EFFECT: delay=0 is for hosts of your own: others are visited once a second; name them in own-hosts of the source",
    ]
    soft = Report()
    check_sites(loaded(text).rules, {**sources, "wbe": SourceConf()}, soft)
    assert not soft.refused


def test_an_evaluation_knows_where_its_site_wants_the_description() -> None:
    made = loaded(
        "<Site name=a host=a.example database=News>\n</Site>\n<Site name=b host=b.example database=default>\n</Site>\n"
        "<Site name=c host=c.example>\n</Site>\n"
    )
    engine = Engine(made)
    told = [engine.evaluation(Candidate(f"http://{host}.example/")) for host in "abc"]
    for evaluation in told:
        engine.metadata(evaluation)
    assert [evaluation.database for evaluation in told] == ["news", "default", ""]


def test_a_host_in_hand_goes_at_the_pace_of_its_site() -> None:
    made, settings = loaded(PACE), read_settings(b"").settings
    sites = SiteBook(made.rules.sites)
    book = HostBook(
        agent="x", obey=True, limits=RobotsLimits(), clock=FakeClock(), own=lambda _host, _port: False,
        policy=lambda host, source, own: wiring.host_policy(settings, made.robot, SourceConf(name=source), own=own, site=sites.of_host(host)),
    )  # fmt: skip
    hosts = ("www.siroe.com", "b.siroe.com", "elsewhere.example")
    lent = [
        book.lend(HostGrant(id=n, origin=f"https://{host}", key=host, own=False), "web")
        for n, host in enumerate(hosts)
    ]
    assert [entry.clock.delay_s for entry in lent] == [2.5, 8.0, 1.0]
    assert [entry.clock.max_open for entry in lent] == [2, 4, 2]
    other_port = book.lend(
        HostGrant(id=9, origin="http://www.siroe.com:8080", key="www.siroe.com:8080", own=False), "web"
    )
    assert other_port.clock.delay_s == 2.5


def test_a_starting_point_that_its_source_never_asks_for_is_told() -> None:
    text = (
        '<Site name="f" host="file:" enable=true>\nStart url="file:///srv/docs/"\nStart url="file:///srv/more/"\n</Site>\n'
        '<Site name="g" host="ftp.example" enable=false>\nStart url="ftp://ftp.example/"\n</Site>\n'
    )
    report = Report()
    check_sites(loaded(text).rules, {"web": SourceConf()}, report)
    (told,) = map(str, report.sorted())
    assert (
        "warning W-NO-EFFECT: nothing begins at file:///srv/docs/: source web does not ask by file; write file"
        in told
    )
    assert told.startswith("filterrules.conf:2:")
    able = Report()
    check_sites(loaded(text).rules, {"web": SourceConf(schemes=frozenset({"file"}))}, able)
    assert not able.sorted()
