"""The numbered cases of the URL patterns specification (section 6): ``+`` matches or is crawled, ``-`` is not."""

import pytest

from ingather.access.decision import decide
from ingather.access.policy import acl_of_rule
from ingather.conf.policyacl import PolicyAcl
from ingather.conf.urlpatterns import Follow, PatternList
from ingather.model.acl import Principal, PrincipalScope

SALES = "http://sales.example.com"


def listed(text: str, *, boundary: str = "") -> PatternList:
    found, said = PatternList.parse(text, "follow.txt", boundary=boundary)
    assert not [d for d in said if d.is_error]
    return found


def check(text: str, *wanted: str, boundary: str = "") -> None:
    """Check ``+URL`` and ``-URL``."""
    found = listed(text, boundary=boundary)
    for url in wanted:
        assert (found.decide(url[1:]) is not None) == (url[0] == "+"), (text, url)


def codes(text: str, *, policy: bool = False) -> list[str]:
    _, said = (PolicyAcl if policy else PatternList).parse(text, "list.txt")
    return [d.code for d in said if d.code != "W-OPEN-HOST"]


def both(follow: str | None, dont: str | None) -> Follow:
    return Follow(*(None if text is None else listed(text) for text in (follow, dont)))


def crawled(follow: str | None, dont: str | None, *wanted: str) -> None:
    pair = both(follow, dont)
    for url in wanted:
        assert pair.crawled(url[1:])[0] == (url[0] == "+"), url


def policy(text: str) -> PolicyAcl:
    found, said = PolicyAcl.parse(text, "policy-acl.txt")
    assert not [d for d in said if d.is_error]
    return found


def user(name: str) -> Principal:
    return Principal(PrincipalScope.USER, name)


def answers(rules: PolicyAcl, url: str, who: str, *groups: str) -> str:
    found = [acl_of_rule(rule) for rule in rules.match(url)]
    if not found:
        return "INDETERMINATE"
    members = [Principal(PrincipalScope.GROUP, group) for group in groups]
    permits = all(decide([acl], user(who), members).permitted for acl in found)
    return "PERMIT" if permits else "DENY"


def test_gsa_patterns_case_01() -> None:
    check(
        "http://www.google.com/", "+http://www.google.com/a", "-https://www.google.com/a",
        "+http://www.google.com:8080/a", "-http://a.www.google.com/",
    )  # fmt: skip


def test_gsa_patterns_case_02() -> None:
    check(
        "google.com/", "+http://mail.google.com/x", "+http://notgoogle.com/x", "-http://google.com.example.net/",
        "-http://other.com/r?u=google.com/",
    )  # fmt: skip


def test_gsa_patterns_case_03() -> None:
    check(
        "google.com/",
        "+http://mail.google.com/x",
        "+http://google.com/x",
        "-http://notgoogle.com/x",
        boundary="label",
    )
    check(
        "# host-boundary = label\n.google.com/", "+http://mail.google.com/x", "-http://google.com/x", "-http://notgoogle.com/x"
    )  # fmt: skip


def test_gsa_patterns_case_04() -> None:
    check("GOOGLE.com/Docs/", "+http://google.com/Docs/a", "-http://google.com/docs/a")


def test_gsa_patterns_case_05() -> None:
    at = "http://www.example.com"
    check("example.com/engsite", f"+{at}/engsite/x", f"+{at}/engsite2", f"-{at}/a/engsite")


def test_gsa_patterns_case_06() -> None:
    check("example.com:80/", "+http://example.com/a", "-https://example.com/a", "-http://example.com:8080/a")


def test_gsa_patterns_case_07() -> None:
    check("example.com:8080/", "+http://example.com:8080/", "-http://example.com/")
    check("example.com:*/", "+http://example.com:8080/", "+http://example.com/")


def test_gsa_patterns_case_08() -> None:
    check(".pdf$", "+http://h/a.pdf", "-http://h/a.PDF", "-http://h/a.pdf?x=1")
    check("home.html$", "+http://h/myhome.html", "+http://h/home.html#top")


def test_gsa_patterns_case_09() -> None:
    check(".html/$", "+http://h/a.html/", "-http://h/a.html")
    check("/?S=A$", "+http://h/d/?S=A", "-http://h/?S=AB")


def test_gsa_patterns_case_10() -> None:
    check("^http://", "+http://h/", "-https://h/")
    check("^http://www.goo", "+http://www.google.com/a", "-http://goo.www.com/")


def test_gsa_patterns_case_11() -> None:
    check(
        "^http://www.google.com/page.html$", "+http://www.google.com/page.html", "+http://www.google.com:8080/page.html",
        "-http://www.google.com/page.html2", "-https://www.google.com/page.html",
    )  # fmt: skip


def test_gsa_patterns_case_12() -> None:
    check("/products/", "+http://h/products/x", "+http://h/a/products/x", "-http://products/x")
    check("</>products/", "+http://h/products/x", "-http://h/a/products/x")


def test_gsa_patterns_case_13() -> None:
    check("example.com</>p", "+http://example.com/p1", "-http://example.com/a/p")
    check("/", "+smb://srv/share/f")


def test_gsa_patterns_case_14() -> None:
    check("contains:product", "+http://myproduct.com/", "-http://h/Product")
    check("contains:?", "+http://h/a?b", "-http://h/a")


def test_gsa_patterns_case_15() -> None:
    check("contains:a$", "+http://h/a$b", "-http://h/a")
    check("contains:\\001", "+http://h/x%01y", "-http://h/x001y")


def test_gsa_patterns_case_16() -> None:
    for text in (
        r"regexp:http://www\\.example\\.com/.*/images/",
        r"regexp:http://www\.example\.com/.*/images/",
    ):
        check(text, "+http://www.example.com/a/images/1", "-http://wwwxexample.com/a/images/1")


def test_gsa_patterns_case_17() -> None:
    check(r"regexpIgnoreCase:\\.exe$", "+http://h/A.EXE")
    check(r"regexpCase:\\.exe$", "-http://h/A.EXE")
    check("regexp:-sid=[0-9A-Z]+/", "+http://h/-sid=12A/x", "-http://h/-sid=1a/x")


def test_gsa_patterns_case_18() -> None:
    check(
        r"regexp:/([^/]*)/\\1/\\1/", "+http://h/a/x/x/x/b", "-http://h/a/x/x/b", "-http://h/x/y/x/y/x/y/", "-http://h/x/x/x"
    )  # fmt: skip


def test_gsa_patterns_case_19() -> None:
    check("smb://srv/share/", "+smb://SRV/share/f", "-smb://srv/Share/f", "-smb://srv2/share/f")
    check("googleconnector://c.localhost/", "+googleconnector://c.localhost/doc?docid=1")


def test_gsa_patterns_case_20() -> None:
    text = "\ufeff# note\n\n  example.com/\t\r\n"
    check(text, "+http://example.com/a")
    assert len(listed(text)) == 1
    check("h.com/a%7eb/café x/", "+http://h.com/a~b/caf%C3%A9%20x/1")


def test_gsa_patterns_case_21() -> None:
    for text in ("candy.com/\n-www.candy.com/", "-www.candy.com/\ncandy.com/"):
        check(text, "+http://www.chocolate.candy.com/", "-http://www.candy.com/")


def test_gsa_patterns_case_22() -> None:
    check(
        "site.com/\n-regexpIgnoreCase:/private/\n-contains:secret", "+http://site.com/a", "-http://site.com/Private/a",
        "-http://site.com/topsecret",
    )  # fmt: skip


def test_gsa_patterns_case_23() -> None:
    crawled(
        "example.com/", ".doc$", "+http://example.com/a", "-http://example.com/a.doc", "-http://other.com/a"
    )


def test_gsa_patterns_case_24() -> None:
    crawled(
        "example.com/", "example.com/archive/\n-example.com/archive/2024/", "-http://example.com/archive/1",
        "+http://example.com/archive/2024/1",
    )  # fmt: skip


def test_gsa_patterns_case_25() -> None:
    crawled("example.com/\n-example.com/old/", "example.com/old/x\n-example.com/old/x", "-http://example.com/old/x")  # fmt: skip


def test_gsa_patterns_case_26() -> None:
    crawled("-example.com/", None, "-http://other.com/")
    crawled("", "", "-http://example.com/")


def test_gsa_patterns_case_27() -> None:
    lines = [
        "sales.example.com/ group:sales",
        "sales.example.com/products/ group:pm",
        "sales.example.com/products/mypage.html user:ann",
        f"^{SALES}/products/mypage.html$ user:joe",
    ]
    page = f"{SALES}/products/mypage.html"
    for order in (lines, lines[::-1]):
        rules = policy("\n".join(order))
        assert [rule.pattern.text for rule in rules.match(page)] == [lines[3].split()[0]]
        assert [rule.pattern.text for rule in rules.match(f"{SALES}/products/x")] == [lines[1].split()[0]]
        assert [rule.pattern.text for rule in rules.find(page)] == [line.split()[0] for line in lines[::-1]]
        assert answers(rules, page, "joe") == "PERMIT"
        assert answers(rules, page, "ann") == "DENY"
        assert answers(rules, "http://other.com/", "joe") == "INDETERMINATE"
    assert [rule.line for rule in policy("\n".join(lines[:3])).match(page)] == [3]


def test_gsa_patterns_case_28() -> None:
    texts = ("example.com/", "sales.example.com/", "/p", ".html$", "contains:sales")
    rules = policy("\n".join(f"{text} eng" for text in texts))
    assert [rule.pattern.text for rule in rules.match(f"{SALES}/p.html")] == ["sales.example.com/"]


def test_gsa_patterns_case_29() -> None:
    rules = policy("contains:sales group:a\n.html$ group:b")
    assert len(rules.match(f"{SALES}/p.html")) == 2
    assert answers(rules, f"{SALES}/p.html", "x", "a") == "DENY"
    assert answers(rules, f"{SALES}/p.html", "x", "a", "b") == "PERMIT"


def test_gsa_patterns_case_30() -> None:
    rules, url = policy("example.com/engsite group:eng user:bob right=none"), "http://example.com/engsite/a"
    assert answers(rules, url, "al", "eng") == "PERMIT"
    assert answers(rules, url, "bob", "eng") == "DENY"
    assert answers(rules, url, "al", "hr") == "DENY"
    assert answers(policy("example.com/engsite eng"), url, "al", "eng") == "PERMIT"


ERRORS = (
    ("-", "EMPTY-PATTERN"), ("contains:", "EMPTY-PATTERN"), ("^", "EMPTY-PATTERN"), ("$", "EMPTY-PATTERN"),
    ("index.html", "NO-SLASH"), ("products", "NO-SLASH"), ("http:", "NO-SLASH"), ("^www.google.com/", "NO-SCHEME"),
    ("www?:example.com/", "UNSUPPORTED-FORM"), ("Contains:x", "KEYWORD-CASE"), ("user@h.com/", "USERINFO"),
    ("h.com:99999/", "BAD-PORT"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "name"), ERRORS)
def test_gsa_patterns_case_33(text: str, name: str) -> None:
    assert codes(text) == [f"E-{name}"]


EXPRESSIONS: tuple[tuple[str, list[str]], ...] = (
    ("*.pdf", ["E-LEADING-STAR"]), (r"(a)\\1", ["E-BACKREFERENCE"]), ("[[.hyphen.]]", ["E-COLLATING"]),
    ("(?=x)", ["E-REGEX"]), ("[a-z", ["E-REGEX"]), ("a**", ["E-REGEX"]), ("a{,3}", []),
)  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), EXPRESSIONS)
def test_gsa_patterns_case_34(text: str, wanted: list[str]) -> None:
    assert codes(f"regexp:{text}") == wanted


WARNED: tuple[tuple[str, list[str]], ...] = (
    ("contains:*.pdf", []), ("jpg$", []), ("http://", []), ("http://www.example.com", ["W-NO-SLASH"]),
    ("+-a.com/", ["W-PLUS-MINUS"]), ("a.com/#/x", ["W-NEVER-MATCHES"]), (r"contains:\\.xml$", ["W-NEVER-MATCHES"]),
    (r"regexp:\\<new\\>", ["W-APPROXIMATE"]), (r"regexp:/\\d+/", ["W-PERL-CLASS"]),
    ("WWW.Example.com/a$", ["W-UPPER-CASE-HOST"]),
)  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), WARNED)
def test_gsa_patterns_case_35(text: str, wanted: list[str]) -> None:
    assert codes(text) == wanted


def test_gsa_patterns_case_36() -> None:
    assert codes("example.com eng", policy=True) == ["W-NO-SLASH"]
    assert codes("-example.com/ eng", policy=True) == ["E-EXCEPTION-HERE"]
    assert codes("products eng", policy=True) == ["E-NO-SLASH"]
    rules = policy("example.com a\nwww.example.com/test$ b\n.doc$ c\ncontains:/test c")
    assert [rule.line for rule in rules.find("http://www.example.com/test")] == [2, 1, 4]
    assert [rule.line for rule in rules.match("http://www.example.com/a.doc")] == [1]
    assert [rule.line for rule in rules.match("http://other.net/a.doc")] == [3]
    assert [rule.line for rule in rules.match("http://notwww.example.com/test")] == [1]
