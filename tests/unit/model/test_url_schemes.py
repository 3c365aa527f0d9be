"""Keys of ftps, sftp and smb, which a WHATWG parser leaves as they are written: read by the rules of http."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.errors import UrlError
from ingather.model.url import Canonicaliser, canonical, fed_url
from ingather.model.urlparts import host_key, split


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("SFTP://H.Example:22/a/../b", "sftp://h.example/b"),
        ("ftps://h:990", "ftps://h/"),
        ("ftps://h:21/a", "ftps://h:21/a"),
        ("smb://SRV/Share/Mein Dök.txt", "smb://srv/Share/Mein%20D%C3%B6k.txt"),
        ("smb://h:445/a", "smb://h/a"),
        ("sftp://user:secret@h/a#f", "sftp://h/a"),
        ("sftp://h:80/", "sftp://h:80/"),
        ("sftp://h:443/", "sftp://h:443/"),
        ("sftp://h./a", "sftp://h/a"),
        ("sftp://h.:2222/a", "sftp://h:2222/a"),
        ("sftp://bücher.example/", "sftp://xn--bcher-kva.example/"),
        ("sftp://[0:0::1]:22/a", "sftp://[::1]/a"),
        ("smb://0x7f.1/a", "smb://127.0.0.1/a"),
        ("sftp://h/%7euser/%c3%a4/%2e%2e/x", "sftp://h/~user/x"),
        ("sftp://h/../../etc", "sftp://h/etc"),
        ("sftp://h/a?b=c", "sftp://h/a?b=c"),
        ("sftp://h/a%3Fb", "sftp://h/a%3Fb"),
    ],
)
def test_spellings_of_one_file_get_one_key(written: str, expected: str) -> None:
    assert canonical(written) == expected
    assert canonical(expected) == expected


@pytest.mark.parametrize(
    "text", ["sftp:///a", "sftp:a", "sftp://", "smb://h:99999/", "ftps://a b/", "sftp://?x", "scp://h/a"]
)
def test_what_names_no_host_is_no_key(text: str) -> None:
    with pytest.raises(UrlError):
        canonical(text)


def test_a_default_port_belongs_to_its_scheme() -> None:
    assert split("sftp://h/a") == ("sftp", "h", 22, "sftp://h", "/a")
    assert split("ftps://h/").port == 990
    assert split("smb://h/").port == 445
    assert host_key("sftp://h") == host_key("smb://h") == host_key("ftps://h") == host_key("http://h") == "h"
    assert host_key("sftp://h:2222") == "h:2222"
    assert host_key("http://h:22") == "h:22"
    assert host_key("file://") == "file:"


def test_links_of_a_folder_stay_with_its_host() -> None:
    resolve = Canonicaliser().resolver("sftp://h:2222/dir/")
    assert resolve("./a%20b") == "sftp://h:2222/dir/a%20b"
    assert resolve("./a:b") == "sftp://h:2222/dir/a:b"
    assert resolve("../../..") == "sftp://h:2222/"
    assert canonical("x/", base="ftps://h/a/b") == "ftps://h/a/x/"


def test_what_is_pushed_has_the_key_of_what_is_crawled() -> None:
    assert fed_url("smb://SRV:445/a/./b") == "smb://srv/a/b"
    assert fed_url("smb://odd name/a") == "smb://odd%20name/a"


@given(
    st.sampled_from(["sftp", "ftps", "smb"]),
    st.text(max_size=30),
    st.text(max_size=30),
)
def test_a_key_is_its_own_key(scheme: str, one: str, two: str) -> None:
    for text in (
        f"{scheme}://h/{one}",
        f"{scheme}://{one}/{two}",
        f"{scheme}://h:{one}/",
        f"{scheme}://h/a;{one}?{two}",
    ):
        try:
            made = canonical(text)
        except UrlError:
            continue
        assert canonical(made) == made
        parts = split(made)
        assert parts.scheme == scheme
        assert parts.host
        assert "@" not in parts.origin
        assert not {".", ".."} & set(parts.path.partition("?")[0].split("/"))
