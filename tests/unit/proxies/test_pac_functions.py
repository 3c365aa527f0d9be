"""What a PAC file may call, against what browsers' helpers are known to answer."""

from datetime import UTC, datetime

import pytest

from ingather.fetch.proxies.pac_script import Said, Script, state_of

KNOWN = {
    "h.example": ("10.1.2.3", "2001:db8::1"),
    "six.example": ("2001:db8::2",),
    "none.example": (),
    "www.netscape.com": ("198.95.249.79",),
}
OWN = ("192.168.1.5", "fd00::5")
# A Wednesday.
NOW = datetime(2026, 3, 18, 14, 30, 15, tzinfo=UTC).timestamp()


def state(now_s: float = NOW) -> str:
    return state_of(KNOWN, OWN, now_s)


def ask(body: str, *, url: str = "http://h.example/x", host: str = "h.example", now_s: float = NOW) -> Said:
    script = Script(body.encode(), state(now_s))
    return script.began if script.began.error or script.began.needs else script.find(url, host, state(now_s))


def value(expression: str, now_s: float = NOW) -> str:
    said = ask(
        f"function FindProxyForURL(url, host) {{ return JSON.stringify([{expression}]); }}", now_s=now_s
    )
    assert not said.error, said
    return said.answer[1:-1]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('isPlainHostName("www")', "true"),
        ('isPlainHostName("www.netscape.com")', "false"),
        ('isPlainHostName("::1")', "false"),
        ('isPlainHostName("")', "true"),
        ('dnsDomainIs("www.netscape.com", ".netscape.com")', "true"),
        ('dnsDomainIs("www", ".netscape.com")', "false"),
        ('dnsDomainIs("www.mcom.com", ".netscape.com")', "false"),
        ('dnsDomainIs("xnetscape.com", "netscape.com")', "true"),
        ('localHostOrDomainIs("www.netscape.com", "www.netscape.com")', "true"),
        ('localHostOrDomainIs("www", "www.netscape.com")', "true"),
        ('localHostOrDomainIs("www.mcom.com", "www.netscape.com")', "false"),
        ('localHostOrDomainIs("home.netscape.com", "www.netscape.com")', "false"),
        ('localHostOrDomainIs("ww", "www.netscape.com")', "false"),
        ('isResolvable("www.netscape.com")', "true"),
        ('isResolvable("none.example")', "false"),
        ('isResolvable("six.example")', "false"),
        ('isResolvableEx("six.example")', "true"),
        ('isResolvableEx("none.example")', "false"),
        ('isInNet("www.netscape.com", "198.95.249.79", "255.255.255.255")', "true"),
        ('isInNet("198.95.6.8", "198.95.0.0", "255.255.0.0")', "true"),
        ('isInNet("198.96.6.8", "198.95.0.0", "255.255.0.0")', "false"),
        ('isInNet("999.95.6.8", "198.95.0.0", "255.255.0.0")', "false"),
        ('isInNet("none.example", "0.0.0.0", "0.0.0.0")', "false"),
        ('isInNet("six.example", "0.0.0.0", "0.0.0.0")', "false"),
        ('isInNet("224.1.1.1", "224.0.0.0", "240.0.0.0")', "true"),
        ('dnsResolve("h.example")', '"10.1.2.3"'),
        ('dnsResolve("H.Example")', '"10.1.2.3"'),
        ('dnsResolve("none.example")', "null"),
        ('dnsResolve("1.2.3.4")', '"1.2.3.4"'),
        ('dnsResolve("no name at all")', "null"),
        ('dnsResolveEx("h.example")', '"10.1.2.3;2001:db8::1"'),
        ('dnsResolveEx("none.example")', '""'),
        ('convert_addr("104.16.41.2")', "1745889538"),
        ('convert_addr("255.255.255.255")', "-1"),
        ("myIpAddress()", '"192.168.1.5"'),
        ("myIpAddressEx()", '"192.168.1.5;fd00::5"'),
        ('dnsDomainLevels("www")', "0"),
        ('dnsDomainLevels("mozilla.org")', "1"),
        ('dnsDomainLevels("www.mozilla.org")', "2"),
        ('shExpMatch("http://home.netscape.com/people/ari/index.html", "*/ari/*")', "true"),
        ('shExpMatch("http://home.netscape.com/people/montulli/index.html", "*/ari/*")', "false"),
        ('shExpMatch("a.example", "?.example")', "true"),
        ('shExpMatch("ab.example", "?.example")', "false"),
        ('shExpMatch("aXexample", "a.example")', "false"),
        ('shExpMatch("b.example", "(a|b).example")', "true"),
        ('shExpMatch("x1", "x[0-9]")', "true"),
        ('shExpMatch("", "*")', "true"),
        ('isInNetEx("198.95.249.79", "198.95.249.79/32")', "true"),
        ('isInNetEx("198.95.115.1", "198.95.0.0/16")', "true"),
        ('isInNetEx("198.96.115.1", "198.95.0.0/16")', "false"),
        ('isInNetEx("3ffe:8311:ffff::", "3ffe:8311:ffff::/48")', "true"),
        ('isInNetEx("3ffe:8312:ffff::", "3ffe:8311:ffff::/48")', "false"),
        ('isInNetEx("::ffff:1.2.3.4", "::/0")', "true"),
        ('isInNetEx("1.2.3.4", "::/0")', "false"),
        ('isInNetEx("h.example", "10.0.0.0/8")', "false"),
        ('isInNetEx("10.1.2.3", "10.0.0.0")', "false"),
        ('isInNetEx("10.1.2.3", "10.0.0.0/33")', "false"),
        ('sortIpAddressList("10.2.3.9;2001:4898:28:3:201:2ff:feea:fc14;::1;127.0.0.1;::9")',
         '"::1;::9;2001:4898:28:3:201:2ff:feea:fc14;10.2.3.9;127.0.0.1"'),
        ('sortIpAddressList("")', "false"),
        ('sortIpAddressList("10.1.1.1;what")', "false"),
        ("getClientVersion()", '"1.0"'),
        ("typeof alert('hello')", '"undefined"'),
        ("typeof require, typeof process, typeof fetch, typeof XMLHttpRequest, typeof std, typeof os, typeof setTimeout",
         '"undefined","undefined","undefined","undefined","undefined","undefined","undefined"'),
    ],
)  # fmt: skip
def test_functions(expression: str, expected: str) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [  # Wednesday 18 March 2026, 14:30:15
        ('weekdayRange("WED")', True),
        ('weekdayRange("MON", "FRI")', True),
        ('weekdayRange("MON", "FRI", "GMT")', True),
        ('weekdayRange("THU", "TUE")', False),
        ('weekdayRange("SAT", "WED")', True),
        ('weekdayRange("WED", "GMT")', True),
        ('weekdayRange("FRI", "MON")', False),
        ('weekdayRange("Wed")', False),
        ("weekdayRange()", False),
        ("dateRange(18)", True),
        ('dateRange(17, "GMT")', False),
        ("dateRange(1, 15)", False),
        ("dateRange(15, 31)", True),
        ("dateRange(25, 18)", True),
        ('dateRange("MAR")', True),
        ('dateRange("JAN", "FEB")', False),
        ('dateRange("JAN", "MAR")', True),
        ('dateRange("OCT", "MAR")', True),
        ("dateRange(2026)", True),
        ("dateRange(1995, 1997)", False),
        ("dateRange(2025, 2027)", True),
        ('dateRange(24, "DEC")', False),
        ('dateRange(1, "JUN", 15, "AUG")', False),
        ('dateRange(1, "MAR", 18, "MAR")', True),
        ('dateRange(25, "DEC", 6, "JAN")', False),
        ('dateRange(25, "DEC", 18, "MAR")', True),
        ('dateRange(1, "JUN", 1995, 15, "AUG", 1995)', False),
        ('dateRange(1, "JUN", 1995, 15, "AUG", 2027)', True),
        ('dateRange("OCT", 2025, "MAR", 2026)', True),
        ('dateRange("APR", 2025, "FEB", 2026)', False),
        ('dateRange("NON")', False),
        ("dateRange()", False),
        ("timeRange(14)", True),
        ("timeRange(13)", False),
        ("timeRange(12, 13)", False),
        ("timeRange(9, 17)", True),
        ('timeRange(14, 14, "GMT")', True),
        ("timeRange(8, 30, 17, 0)", True),
        ("timeRange(14, 30, 14, 30)", True),
        ("timeRange(14, 31, 17, 0)", False),
        ("timeRange(22, 0, 15, 0)", True),
        ("timeRange(22, 0, 6, 0)", False),
        ("timeRange(14, 30, 15, 14, 30, 15)", True),
        ("timeRange(14, 30, 16, 14, 30, 20)", False),
        ('timeRange(0, 0, 0, 23, 59, 59, "GMT")', True),
        ("timeRange()", False),
    ],
)
def test_times(expression: str, *, expected: bool) -> None:
    assert value(expression) == str(expected).lower()


def test_a_wrong_number_of_hours_is_an_error() -> None:
    assert "bad number" in ask("function FindProxyForURL() { return '' + timeRange(1, 2, 3) }").error


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('function FindProxyForURL(u, h) { return "PROXY " + h + ":1" }', "PROXY h.example:1"),
        ('\ufeffvar FindProxyForURL = (u, h) => "DIRECT"', "DIRECT"),
        ('"use strict"; const p = "PROXY p:1"; function FindProxyForURL() { return p }', "PROXY p:1"),
        ('function FindProxyForURL() { return "a" } function FindProxyForURLEx() { return "b" }', "b"),
        ('var me = myIpAddress(); function FindProxyForURL() { return "PROXY " + me + ":1" }', "PROXY 192.168.1.5:1"),
    ],
)  # fmt: skip
def test_files_as_they_are_written(body: str, expected: str) -> None:
    assert ask(body).answer == expected


def test_names_that_are_not_known_are_asked_for_even_if_the_script_catches_that() -> None:
    said = ask(
        'function FindProxyForURL() { try { dnsResolve("New.Example") } catch (e) {} return "DIRECT" }'
    )
    assert said.needs == ("new.example",)
    assert ask('var x = dnsResolve("top.example"); function FindProxyForURL() {}').needs == ("top.example",)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("function FindProxyForURL() { while (1) {} }", "takes too long"),
        ("while (1) {}", "takes too long"),
        ("function FindProxyForURL() { throw { toString: function () { while (1) {} } } }", "takes too long"),
        ("function FindProxyForURL() { return 'x'.repeat(1e9) }", "out of memory"),
        ("function FindProxyForURL() { throw null }", "too much memory, or threw null"),
        ("function FindProxyForURL() { return 'x'.repeat(1e5) }", "its answer has 100000 characters"),
        ("function FindProxyForURL() { return {} }", "answered with object"),
        ("function FindProxyForURL() { return [1] }", "answered with an array"),
        ("function FindProxyForURL() {}", "answered with undefined"),
        ("function FindProxyForURL() { return null }", "answered with null"),
        ("function FindProxyForURL() { return FindProxyForURL() }", "call stack"),
        ("function FindProxyForURL() { throw new Error('no luck') }", "Error: no luck"),
        ("function FindProxyForURL() { throw 'as text' }", "as text"),
        ("function FindProxyForURL() { throw { toString: function () { throw 1 } } }", "cannot be told"),
        ("function FindProxyForURL() { return fetch('http://a/') }", "fetch"),
        ("function FindProxyForURL() { return '\\ud800' }", "cannot be read"),
        ("function FindProxyForURL(", "SyntaxError"),
        ("<html>not found</html>", "SyntaxError"),
        ("", "no function FindProxyForURL"),
        ("var a = 1", "no function FindProxyForURL"),
        ("\0", "no text"),
    ],
)
def test_hostile_and_broken_files(body: str, error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingather.fetch.proxies.pac_script._TIME_S", 0.1)
    said = ask(body)
    assert error in said.error
    assert not said.answer


def test_what_a_script_does_to_the_language_hurts_itself_alone() -> None:
    for spoiled in (
        "JSON.stringify = null",
        "String = null",
        "Array.prototype.push = null",
        "Object.prototype.toJSON = () => 1",
    ):
        ask(f"{spoiled}; function FindProxyForURL(u, h) {{ return dnsResolve(h) }}")
    assert ask("function FindProxyForURL(u, h) { return dnsResolve(h) }").answer == "10.1.2.3"
