"""By which names the listeners may be called: the machine's, those of the settings, and nothing else."""

import socket

import pytest

from ingather.app.machinenames import own_hosts
from ingather.conf.settings.file import read_settings
from ingather.conf.settings.hostnames import host_name
from ingather.errors import UnitError
from ingather.testing.running import wait_until
from ingather.web.failures import WebError


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("search.example", "search.example"),
        (" Search.EXAMPLE. ", "search.example"),
        ("ingather", "ingather"),
        ("a_b-c.example", "a_b-c.example"),
        ("b\u00fccher.example", "xn--bcher-kva.example"),
        ("10.0.0.5", "10.0.0.5"),
    ],
)
def test_a_name_is_kept_as_browsers_send_it(text: str, name: str) -> None:
    assert host_name(text) == name


@pytest.mark.parametrize(
    "text",
    ["", ".", "https://search.example", "search.example:8080", "search.example/", "*.example", "*", "a b", "[::1]",
     "-a.example", "a..b", "x" * 254, "\u2026.example", "a.example\n"[:-1] + "\x00"],
)  # fmt: skip
def test_what_is_no_name_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(UnitError):
        host_name(text)


def test_a_wrong_name_stops_the_settings_at_its_line() -> None:
    found = read_settings(
        b'[listen]\nsearch = "127.0.0.1:0"\nnames = ["search.example", "https://x.example/"]\n'
    )
    (told,) = found.diagnostics
    assert (told.code, told.line) == ("E-VALUE", 3)
    assert "listen.names" in told.text
    assert "https://x.example/" in told.text
    assert "without scheme and port" in (told.hint or "")


def test_names_of_settings_that_say_how_we_are_reached_count_without_being_said_twice() -> None:
    text = b"""
[listen]
search = "Page.corp.example:7070"
admin = "localhost:7071"
names = ["Search.Example"]
[feeds]
listen = "feeds.corp.example"
[access]
oidc-return = "https://login.example:8443/login/return"
"""
    own = own_hosts(read_settings(text).settings)
    wanted = {"page.corp.example", "search.example", "feeds.corp.example", "login.example", "localhost"}
    assert wanted <= own.names


def test_the_machine_is_called_by_its_name_with_and_without_domain() -> None:
    own = own_hosts(read_settings(b"").settings)
    named = socket.gethostname().lower()
    assert {named, named.partition(".")[0], "localhost"} <= own.names
    full = socket.getfqdn().lower()
    wait_until(lambda: {full, full.partition(".")[0]} <= own.names)
    own.require(f"{full.upper()}.:19900")
    with pytest.raises(WebError):
        own.require("evil.test")
