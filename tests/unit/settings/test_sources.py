"""[source.NAME]: what may be gathered as whose."""

import pytest

from ingather.app.sourcerules import deletion_limits
from ingather.conf.settings.file import SettingsFile, read_settings
from ingather.conf.sources.source import SourceConf
from ingather.errors import UnitError
from ingather.model.scope import Scope


def read(text: str) -> SettingsFile:
    return read_settings(text.encode())


def test_the_source_web_is_there_without_being_written() -> None:
    assert read("").sources == {"web": SourceConf()}
    assert SourceConf().scope() == Scope()


def test_a_source_is_read_whole_with_its_places() -> None:
    found = read(
        "[source.intranet]\nkind = 'site'\nhosts = ['Intranet.Example', '.dep.example', 'bücher.example']\n"
        "ports = [80, '8080']\naddresses = ['10.1.2.3/8', '192.168.1.7', 'fd00::/8']\naccess = 'secure'\n"
        "own-hosts = ['intranet.example', 'LOCALHOST:8000', '[::1]:80']\ndelay = '250ms'\nschemes = ['https']\n"
        "verify-tls = false\ndeletion-share = '20%'\ndeletion-documents = 7\nheld-shown = true\nhost-urls = 0\n"
    )
    assert not found.diagnostics
    source = found.sources["intranet"]
    assert source.scope() == Scope(
        source="intranet",
        schemes=frozenset({"https"}),
        hosts=("intranet.example", ".dep.example", "xn--bcher-kva.example"),
        ports=frozenset({80, 8080}),
        addresses=("10.0.0.0/8", "192.168.1.7/32", "fd00::/8"),
        verify_tls=False,
    )
    assert (source.access, source.delay_s, source.host_urls, source.prefix_urls) == ("secure", 0.25, 0, None)
    assert (source.deletion_share, source.deletion_documents, source.held_shown) == (0.2, 7, True)
    assert source.origins["delay"] == "ingather.toml:8"
    assert source.is_own("intranet.example", 443)
    assert source.is_own("localhost", 8000)
    assert not source.is_own("localhost", 8001)
    assert source.is_own("::1", 80)
    assert "web" in found.sources


def test_a_source_has_its_own_rules_of_deletion() -> None:
    found = read(
        "[source.web]\ndeletion-half-share = '30%'\ndeletion-half-floor = 4\ndeletion-confirm-after = '6h'\n"
        "deletion-confirm-looks = 3\ndeletion-cool-down = '2d'\ndeletion-rd-lifetime = '30d'\n"
    )
    assert not found.diagnostics
    limits = deletion_limits(found.settings, found.sources["web"])
    assert (limits.half_share, limits.half_floor, limits.confirm_s) == (0.3, 4, 21_600.0)
    assert (limits.confirm_looks, limits.cool_down_s) == (3, 172_800.0)
    assert found.sources["web"].deletion_rd_lifetime == 30 * 86_400.0
    common = deletion_limits(found.settings, SourceConf())
    assert (common.half_floor, common.confirm_looks, common.cool_down_s) == (10, 2, 86_400.0)
    for wrong in ("deletion-confirm-looks = 0", "deletion-confirm-looks = 9", "deletion-cool-down = '31d'"):
        [finding] = read(f"[source.web]\n{wrong}\n").diagnostics
        assert wrong.split(" ")[0] in finding.text


def test_web_can_be_narrowed() -> None:
    assert read("[source.web]\nhosts = ['a.example']").sources["web"].hosts == ("a.example",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("host = ['a']", "a source has no key 'host'; did you mean host"),
        ("hosts = 'a.example'", "is not a list of texts"),
        ("hosts = ['http://a.example/']", 'write "intranet.example", ".example" or "*"'),
        ("hosts = ['" + "ü" * 80 + "']", "is not a host name"),
        ("addresses = ['10.0.0.0/33']", "'10.0.0.0/33' is not an address range"),
        ("addresses = ['intranet']", "is not an address range"),
        ("own-hosts = ['a:0']", "is not a host"),
        ("own-hosts = ['a:99999']", "is not a host"),
        ("ports = [0]", "'0' is not a port"),
        ("ports = [true]", "is not a list of texts"),
        ("kind = 'feed'", "choose of: site"),
        ("access = 'everybody'", "choose of: public, secure"),
        ("delay = 0", "no delay is for hosts of your own: name them in own-hosts"),
        ("schemes = ['gopher']", "choose of: http, https, ftp, ftps, sftp, file, smb"),
        ("roots = ['srv/docs']", "is not the whole path of a folder"),
        ("roots = ['/srv/../etc']", "is not the whole path of a folder"),
        ("file-hidden = ['x']", "is no pattern of hidden names"),
        ("host-keys = ['MD5:aa']", "is no fingerprint of a host key"),
        ("verify-tls = 'no'", "'no' is not a switch; write true or false"),
    ],
)
def test_a_bad_key_is_told_and_points_at_its_line(line: str, said: str) -> None:
    (found,) = read(f"[source.x]\n{line}\n").diagnostics
    assert said in str(found)
    assert (found.line, found.is_error) == (2, True)


@pytest.mark.parametrize("name", ["a b", "-a", "ä", "a" * 201])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    (found,) = read(f'[source."{name}"]\n').diagnostics
    assert "is not a name for a source" in str(found)


@pytest.mark.parametrize("name", ["SharePoint", "sharepoint", "SHAREPOINT"])
def test_a_name_keeps_its_case_and_is_compared_without_it(name: str) -> None:
    found = read("[source.SharePoint]\naccess = 'secure'\n")
    assert not found.diagnostics
    assert list(found.sources) == ["web", "SharePoint"]
    assert name in found.sources
    assert found.sources[name].access == "secure"
    assert found.sources[name].name == "SharePoint"


def test_two_sections_of_one_source_are_told() -> None:
    (found,) = read(
        "[source.SharePoint]\naccess = 'secure'\n[source.sharepoint]\naccess = 'public'\n"
    ).diagnostics
    assert "[source.sharepoint] and [source.SharePoint] are one source" in str(found)
    assert (found.line, found.is_error) == (3, True)


def test_the_section_of_what_is_crawled_may_have_a_capital() -> None:
    found = read("[source.Web]\naccess = 'secure'\n")
    assert not found.diagnostics
    assert found.sources["web"].access == "secure"
    assert list(found.sources) == ["web"]


@pytest.mark.parametrize(
    "text", ["169.254.0.0/16", "169.254.169.254", "fe80::1", "224.0.0.1", "fd00:ec2::254"]
)
def test_an_address_that_is_never_reachable_is_warned_of(text: str) -> None:
    (found,) = read(f"[source.x]\naddresses = ['{text}']").diagnostics
    assert (found.code, found.is_error) == ("W-NO-EFFECT", False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("schemes = ['file']", "there are no files without roots"),
        ("roots = ['/srv']", "it belongs to schemes file"),
        ("schemes = ['sftp']", "no SFTP server is believed without host-keys"),
        ("ftp-active = true", "it belongs to schemes ftp, ftps"),
    ],
)
def test_keys_and_schemes_that_need_one_another(text: str, said: str) -> None:
    (found,) = read(f"[source.x]\n{text}").diagnostics
    assert (found.code, found.is_error) == ("W-NO-EFFECT", False)
    assert said in str(found)


def test_roots_are_whole_paths_in_one_spelling() -> None:
    source = read("[source.x]\nschemes = ['file']\nroots = ['/srv//docs/./', '/']").sources["x"]
    assert source.reach.roots == ("/srv/docs", "/")


def test_a_run_may_widen_a_source() -> None:
    narrow = SourceConf(hosts=("a.example",))
    wide = narrow.reaching(hosts=("B.example",), addresses=("127.0.0.1",), own_hosts=("localhost:80",))
    assert wide.hosts == ("a.example", "b.example")
    assert wide.addresses == ("127.0.0.1/32",)
    assert wide.is_own("localhost", 80)
    assert SourceConf().reaching(hosts=("b.example",)).hosts == ("*",)
    with pytest.raises(UnitError):
        narrow.reaching(own_hosts=("a b",))
