"""robots.txt read and matched. Names carry the section of RFC 9309; `google` = what the RFC leaves open."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.fetch import robots
from ingather.fetch.robots import LineKind

AGENT = "Ingather"


def allowed(text: str | bytes, path: str, agent: str = AGENT) -> bool:
    """Ask in both ways; they must agree."""
    rules = robots.parse(text.encode() if isinstance(text, str) else text)
    answer = rules.allows(agent, "https://host.example" + path)
    assert rules.decide(agent, "https://host.example" + path).allowed is answer
    return answer


# -- 2.1, 2.2: lines ------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\n\n", "\r\r", "\n\r"])
def test_rfc9309_2_2_any_line_end(end: str) -> None:
    text = end.join(["User-agent: *", "Disallow: /a", "Disallow: /b", ""])
    assert not allowed(text, "/a")
    assert not allowed(text, "/b")
    assert allowed(text, "/c")


def test_rfc9309_2_2_comments_and_blanks_mean_nothing() -> None:
    text = "# Disallow: /\n \t User-agent \t : * # all\n\tDisallow\t:\t/a # not /b\n#\n  # Disallow: /c\n"
    assert not allowed(text, "/a")
    assert allowed(text, "/b")
    assert allowed(text, "/c")


@pytest.mark.parametrize("name", ["DISALLOW", "disallow", "dIsAlLoW", "Disallow"])
def test_rfc9309_2_2_directives_in_any_case(name: str) -> None:
    assert not allowed(f"USER-agent: *\n{name}: /a\n", "/a")


@pytest.mark.parametrize(
    "mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"], ids=["whole", "two bytes", "one byte"]
)
def test_google_a_byte_order_mark_is_skipped_even_in_part(mark: bytes) -> None:
    assert not allowed(mark + b"User-agent: *\nDisallow: /a\n", "/a")


@pytest.mark.parametrize("names", ["One, Ingather", "One Ingather Two", "One,ingather/2.0", "Ingather,One"])
def test_ours_several_names_in_a_line_are_all_meant(names: str) -> None:
    text = f"User-agent: {names}\nDisallow: /a\n\nUser-agent: *\nAllow: /\n"
    assert not allowed(text, "/a")
    assert not allowed(text, "/a", "Ingather/1.0 (+https://search.example)")
    assert allowed(text, "/a", "Gather")
    assert allowed(text, "/a", "Ingatherer")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_ours_utf_16_is_read(encoding: str) -> None:
    assert not allowed("User-agent: *\nDisallow: /a\n".encode(encoding), "/a")


@pytest.mark.parametrize(
    "line",
    [
        "Disallow /a",
        "Disallow\t/a",
        "dissallow: /a",
        "Desallow: /a",
        "dissalow: /a",
        "disalow: /a",
        "diasllow: /a",
        "disallaw: /a",
    ],
)
def test_google_forgotten_colons_and_misspellings_count(line: str) -> None:
    assert not allowed(f"User-agent: *\n{line}\n", "/a")


@pytest.mark.parametrize("line", ["useragent: *", "User agent: *", "User-agent *", "user-agents: *"])
def test_google_misspelt_user_agents_count(line: str) -> None:
    assert not allowed(f"{line}\nDisallow: /a\n", "/a")


def test_google_three_words_without_a_colon_are_nothing() -> None:
    assert allowed("User-agent: *\nDisallow /a really\n", "/a")


def test_ours_a_colon_in_a_path_does_not_replace_a_forgotten_one() -> None:
    assert not allowed("User-agent: *\nDisallow /a:b\n", "/a:b")


def test_google_a_line_counts_up_to_16663_bytes() -> None:
    long = "/x/" + "a" * 20_000
    text = f"user-agent: *\ndisallow: {long}\n"
    kept = 16_663 - len("disallow: ")
    assert not allowed(text, long[:kept])
    assert allowed(text, long[: kept - 1])
    assert not allowed(text, long)


def test_an_endless_line_does_not_hold_anybody_up() -> None:
    for body in (
        b"Disallow" * 10_000_000,
        b"User-agent: *\nDisallow: /" + b"*a" * 5_000_000,
        b":" * 50_000_000,
    ):
        robots.parse(body).decide(AGENT, "https://h.example/" + "a" * 2000)


def test_rfc9309_2_5_at_least_500_kib_are_read() -> None:
    filler = b"# " + b"x" * 97 + b"\n"
    body = b"User-agent: *\n" + filler * (500 * 1024 // len(filler))
    body = body[: 500 * 1024 - 12] + b"\nDisallow: /last"
    assert not allowed(body, "/last")


def test_ours_two_mib_are_read() -> None:
    filler = b"# " + b"x" * 97 + b"\n"
    body = b"User-agent: *\n" + filler * ((2 << 20) // len(filler) - 2) + b"Disallow: /last\n"
    assert not allowed(body, "/last")
    assert allowed(body + filler * 100 + b"Disallow: /beyond\n", "/beyond")


def test_ours_the_line_at_the_limit_is_read_to_its_end() -> None:
    body = b"User-agent: *\n#".ljust((2 << 20) - 12, b"x") + b"\nDisallow: /archive/old\n" + b"#\n" * 1000
    assert not allowed(body, "/archive/old")
    assert allowed(body, "/arch")


def test_html_in_its_place_forbids_nothing() -> None:
    page = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head>\n<body>Disallow: /</body></html>"
    rules = robots.parse(page)
    assert rules.allows(AGENT, "https://h.example/")
    assert not rules.has_groups


def test_ours_markup_around_directives_is_taken_off() -> None:
    page = "<html><body>\nUser-agent: *<BR>\nDisallow: /a<br />\nCrawl-delay: 3<br>\nDisallow: <BR>\n</body></html>"
    assert not allowed(page, "/a")
    assert allowed(page, "/b")
    assert robots.parse(page.encode()).crawl_delay(AGENT) == 3.0


@given(st.binary(max_size=400) | st.text(alphabet="UuserAagntDdilow-:/* #$\r\n\t\0é<>", max_size=400))
def test_nothing_makes_it_fail(body: bytes | str) -> None:
    rules = robots.parse(body.encode() if isinstance(body, str) else body)
    assert rules.decide(AGENT, "https://h.example/a").allowed is rules.allows(AGENT, "https://h.example/a")
    assert rules.crawl_delay(AGENT) is None or rules.crawl_delay(AGENT) >= 0  # type: ignore[operator]
    assert len(rules.lines) >= 1
    assert isinstance(rules.sitemaps, tuple)


# -- 2.2.1: groups --------------------------------------------------------------------------


def test_rfc9309_2_2_1_the_own_group_and_no_other() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: ingather\nDisallow: /a\n"
    assert allowed(text, "/b")
    assert not allowed(text, "/a")
    assert not allowed(text, "/b", "OtherBot")


def test_rfc9309_2_2_1_groups_of_one_agent_are_one() -> None:
    text = "User-agent: ingather\nDisallow: /a\nUser-agent: x\nDisallow: /x\nUser-agent: Ingather\nDisallow: /b\n"
    assert not allowed(text, "/a")
    assert not allowed(text, "/b")
    assert allowed(text, "/x")


def test_rfc9309_2_2_1_several_agents_share_rules() -> None:
    text = "User-agent: x\nUser-agent: ingather\nUser-agent: y\nDisallow: /a\n"
    assert not allowed(text, "/a")
    assert allowed(text, "/a", "z")


def test_rfc9309_2_2_1_groups_of_everybody_are_one() -> None:
    text = "User-agent: *\nDisallow: /a\n\nUser-agent: x\nDisallow: /x\n\nUser-agent: *\nDisallow: /b\n"
    assert not allowed(text, "/a")
    assert not allowed(text, "/b")


def test_rfc9309_2_2_1_no_group_no_rules() -> None:
    assert allowed("User-agent: x\nDisallow: /\n", "/a")
    assert allowed("", "/a")
    assert robots.parse(b"").decide(AGENT, "https://h.example/").reason


def test_rfc9309_2_2_1_an_empty_own_group_overrides_everybody() -> None:
    assert allowed("User-agent: *\nDisallow: /\n\nUser-agent: ingather\nDisallow:\n", "/a")


def test_rules_before_any_agent_belong_to_nobody() -> None:
    assert allowed("Disallow: /\nUser-agent: *\nDisallow: /a\n", "/b")


def test_rfc9309_2_2_4_other_records_do_not_end_a_group() -> None:
    for other in ("Sitemap: https://h.example/s.xml", "Crawl-delay: 9", "Invalid-Unknown-Line: x", ""):
        text = f"User-agent: ingather\n{other}\nUser-agent: *\nDisallow: /\n"
        assert not allowed(text, "/a")
        assert not allowed(text, "/a", "OtherBot")


@pytest.mark.parametrize(
    "agent", ["Ingather", "ingather", "Ingather/1.0", "INGATHER/2 (+https://x.example/; a@b.example)"]
)
@pytest.mark.parametrize("written", ["Ingather", "ingather/1.0", "INGATHER *", "Ingather 2 (bot)"])
def test_google_the_token_counts_up_to_the_first_odd_character(agent: str, written: str) -> None:
    assert not allowed(f"User-agent: *\nAllow: /\nUser-agent: {written}\nDisallow: /\n", "/a", agent)


def test_google_a_token_is_matched_whole() -> None:
    assert allowed("User-agent: ingather-news\nDisallow: /\n", "/a")
    assert allowed("User-agent: in\nDisallow: /\n", "/a")


def test_ours_a_name_with_digits_can_be_ours() -> None:
    text = "User-agent: bot2000\nDisallow: /\n"
    assert not allowed(text, "/a", "Bot2000")
    assert allowed(text, "/a", "Bot3000")


def test_google_a_star_with_something_behind_it_is_everybody() -> None:
    assert not allowed("User-agent: * the rest of you\nDisallow: /\n", "/a")
    assert allowed("User-agent: *bot\nDisallow: /\n", "/a")


# -- 2.2.2: rules ---------------------------------------------------------------------------


def test_rfc9309_2_2_2_longest_match_wins() -> None:
    text = "User-agent: *\nDisallow: /x/page.html\nAllow: /x/\n"
    assert not allowed(text, "/x/page.html")
    assert allowed(text, "/x/other")
    text = "User-agent: *\nAllow: /x/page.html\nDisallow: /x/\n"
    assert allowed(text, "/x/page.html")
    assert not allowed(text, "/x/")
    assert not allowed("User-agent: *\nAllow: /page\nDisallow: /*.htm\n", "/page.htm")


def test_rfc9309_2_2_2_an_allow_wins_a_tie() -> None:
    assert allowed("User-agent: *\nDisallow: /x\nAllow: /x\n", "/x")
    assert allowed("User-agent: *\nDisallow: /\nAllow: /\n", "/x")
    assert allowed("User-agent: *\nDisallow: /*x\nAllow: /ax\n", "/ax")


def test_rfc9309_2_2_2_paths_are_case_sensitive() -> None:
    assert allowed("User-agent: *\nDisallow: /X\n", "/x")


def test_rfc9309_2_2_2_an_empty_rule_is_none() -> None:
    assert allowed("User-agent: *\nDisallow:\nAllow:\n", "/x")
    assert not allowed("User-agent: *\nDisallow: /a\nDisallow:\n", "/a")


def test_rfc9309_2_2_2_robots_txt_itself_is_always_allowed() -> None:
    assert allowed("User-agent: *\nDisallow: /\n", "/robots.txt")
    assert not allowed("User-agent: *\nDisallow: /\n", "/robots.txt?x")


def test_rfc9309_2_2_2_queries_are_matched() -> None:
    text = "User-agent: *\nDisallow: /a?b=\nDisallow: /*?sort=\n"
    assert not allowed(text, "/a?b=1")
    assert not allowed(text, "/list?sort=up")
    assert allowed(text, "/list?x=1&sort=up")


@pytest.mark.parametrize("rule", ["/a/%C3%A9", "/a/é", "/a/%c3%a9"])
def test_rfc9309_2_2_2_bytes_beyond_ascii_are_compared_encoded(rule: str) -> None:
    assert not allowed(f"User-agent: *\nDisallow: {rule}\n", "/a/%C3%A9")
    assert allowed(f"User-agent: *\nDisallow: /\nAllow: {rule}\n", "/a/%C3%A9")


def test_ours_a_latin_1_file_is_compared_byte_for_byte() -> None:
    assert not allowed(b"User-agent: *\nDisallow: /b\xfccher\n", "/b%FCcher")


@pytest.mark.parametrize("rule", ["/%7Ejoe", "/~joe", "/%7ejoe", "/%6A%6fe"])
@pytest.mark.parametrize("path", ["/~joe", "/%7Ejoe", "/%7ejoe/x", "/joe", "/%6aoe"])
def test_rfc9309_2_2_2_a_disallow_holds_for_every_spelling_of_unreserved_characters(
    rule: str, path: str
) -> None:
    same = ("joe" in rule and "~" not in rule and "%7" not in rule.lower()) or rule == "/%6A%6fe"
    expected = (path in {"/joe", "/%6aoe"}) if same else path not in {"/joe", "/%6aoe"}
    assert allowed(f"User-agent: *\nDisallow: {rule}\n", path) is not expected


def test_google_an_allow_is_not_widened_by_taking_escapes_off() -> None:
    text = "User-agent: *\nDisallow: /\nAllow: /foo/%62%61%7A\nAllow: /~mak\n"
    assert not allowed(text, "/foo/baz")
    assert allowed(text, "/foo/%62%61%7A")
    assert allowed(text, "/%7Emak/")


def test_rfc9309_2_2_3_star_and_dollar() -> None:
    text = "User-agent: *\nDisallow: /*.pdf$\nDisallow: /a*b*c\nDisallow: /exact$\n"
    for path in ("/x.pdf", "/a/b/x.pdf", "/abc", "/a1b2c3", "/exact"):
        assert not allowed(text, path), path
    for path in ("/x.pdf?y", "/x.PDF", "/ab", "/acb", "/exact/", "/pdf"):
        assert allowed(text, path), path


def test_rfc9309_2_2_3_a_dollar_within_is_itself() -> None:
    assert not allowed("User-agent: *\nDisallow: /a$b\n", "/a$b")
    assert allowed("User-agent: *\nDisallow: /a$b\n", "/a")


def test_rfc9309_2_2_3_encoded_special_characters_are_themselves() -> None:
    text = "User-agent: *\nDisallow: /star-%2A.html\nDisallow: /%24x\n"
    assert not allowed(text, "/star-*.html")
    assert not allowed(text, "/star-%2a.html")
    assert allowed(text, "/star-foo.html")
    assert not allowed(text, "/$x")


@pytest.mark.parametrize("tail", ["index.html", "index.htm"])
def test_google_an_allowed_index_page_allows_its_folder(tail: str) -> None:
    text = f"User-agent: *\nAllow: /a/{tail}\nDisallow: /\n"
    assert allowed(text, "/a/")
    assert not allowed(text, "/a/b")


def test_google_urls_without_path_and_relative_ones() -> None:
    rules = robots.parse(b"User-agent: *\nDisallow: /$\nDisallow: /?x\n")
    for url in (
        "http://h.example",
        "http://h.example#f",
        "",
        "h.example",
        "http://h.example/",
        "//h.example",
    ):
        assert not rules.allows(AGENT, url), url
    assert not rules.allows(AGENT, "http://h.example?x")
    assert rules.allows(AGENT, "http://h.example/a#/?x")


@given(
    rule=st.text(alphabet="ab/*$", min_size=1, max_size=8),
    path=st.text(alphabet="ab/$", max_size=12),
)
def test_wildcards_match_as_the_obvious_expression_does(rule: str, path: str) -> None:
    anchored = rule.endswith("$")
    pattern = ".*".join(map(re.escape, (rule[:-1] if anchored else rule).split("*")))
    wanted = re.match(pattern + (r"\Z" if anchored else ""), "/" + path) is not None
    assert allowed(f"User-agent: *\nDisallow: {rule}\n", "/" + path) is not wanted


@given(
    rules=st.lists(
        st.tuples(st.booleans(), st.text(alphabet="abc/", min_size=1, max_size=7)), min_size=1, max_size=12
    ),
    path=st.text(alphabet="abc/", max_size=9),
)
def test_literal_rules_decide_as_a_plain_search_does(rules: list[tuple[bool, str]], path: str) -> None:
    text = "User-agent: *\n" + "".join(f"{'Allow' if yes else 'Disallow'}: {rule}\n" for yes, rule in rules)
    matching = [(len(rule), yes) for yes, rule in rules if ("/" + path).startswith(rule)]
    assert allowed(text, "/" + path) is (max(matching)[1] if matching else True)


def test_patterns_made_to_backtrack_do_not() -> None:
    text = "User-agent: *\n" + "".join(f"Disallow: /{'a*' * 60}{n}$\n" for n in range(200))
    assert allowed(text, "/" + "a" * 4000)


# -- what people are told -------------------------------------------------------------------


def test_the_verdict_names_line_text_and_group() -> None:
    body = "\ufeff# us\r\nUser-agent: *\r\nDisallow: /b\r\n\r\nUser-Agent: INGATHER\r\n  Disallow: /é # no\r\nAllow: /é/x\r\n"
    rules = robots.parse(body.encode())
    no = rules.decide(AGENT, "https://h.example/%C3%A9")
    assert (no.allowed, no.line, no.text, no.agent) == (False, 6, "Disallow: /é # no", "INGATHER")
    yes = rules.decide(AGENT, "https://h.example/%C3%A9/x")
    assert (yes.allowed, yes.line, yes.text) == (True, 7, "Allow: /é/x")
    other = rules.decide("Other", "https://h.example/b")
    assert (other.allowed, other.line, other.agent) == (False, 3, "*")
    free = rules.decide(AGENT, "https://h.example/")
    assert (free.allowed, free.line, free.text, free.reason) == (True, 0, "", "no rule matches")


def test_of_equal_rules_the_first_is_named() -> None:
    rules = robots.parse(b"User-agent: *\nDisallow: /a\nDisallow: /a\nDisallow: /a*\nDisallow: /*a\n")
    assert rules.decide(AGENT, "https://h.example/a").line in {2, 4}
    assert rules.decide(AGENT, "https://h.example/a").line == 4, "a longer pattern outranks"


def test_every_line_tells_what_was_made_of_it() -> None:
    body = b"Disallow: /early\nUser-agent: *\nDissallow /a\nCrawl-delay: 2\nFoo: bar\nnonsense\n# x\nDisallow: /\xc3\xa9<br>\n"
    lines = robots.parse(body).lines
    assert [line.kind for line in lines] == [
        LineKind.DISALLOW,
        LineKind.USER_AGENT,
        LineKind.DISALLOW,
        LineKind.CRAWL_DELAY,
        LineKind.UNKNOWN,
        LineKind.INVALID,
        LineKind.EMPTY,
        LineKind.DISALLOW,
        LineKind.EMPTY,
    ]
    assert [line.number for line in lines] == list(range(1, 10))
    assert "ignored" in lines[0].remarks[0]
    assert any("colon" in remark for remark in lines[2].remarks)
    assert any("misspelt" in remark for remark in lines[2].remarks)
    assert lines[7].value == "/é"
    assert len(lines[7].remarks) == 2


# -- other records --------------------------------------------------------------------------


def test_crawl_delay_of_the_own_group() -> None:
    rules = robots.parse(b"User-agent: *\nCrawl-delay: 3\n\nUser-agent: ingather\nCrawl-Delay: 1.5 # s\n")
    assert rules.crawl_delay(AGENT) == 1.5
    assert rules.crawl_delay("Other") == 3.0
    assert (
        robots.parse(b"User-agent: ingather\nDisallow: /\nUser-agent: *\nCrawl-delay: 3\n").crawl_delay(AGENT)
        is None
    )


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("10", 10.0),
        ("0.25", 0.25),
        (".5", 0.5),
        ("7s", 7.0),
        ("0", 0.0),
        ("-1", None),
        ("x", None),
        ("", None),
    ],
)
def test_crawl_delay_values(value: str, seconds: float | None) -> None:
    assert robots.parse(f"User-agent: *\nCrawl-delay: {value}\n".encode()).crawl_delay(AGENT) == seconds


def test_a_crawl_delay_is_for_the_agents_named_before_it() -> None:
    rules = robots.parse(b"User-agent: one\nCrawl-delay: 10\nUser-agent: two\nDisallow: /private/\n")
    assert rules.crawl_delay("one") == 10.0
    assert rules.crawl_delay("two") is None
    assert not rules.allows("one", "https://h.example/private/")


def test_of_several_delays_the_longest_counts() -> None:
    assert (
        robots.parse(b"User-agent: *\nCrawl-delay: 5\nCrawl-delay: 9\nCrawl-delay: 2\n").crawl_delay(AGENT)
        == 9.0
    )


def test_sitemaps_stand_anywhere_each_once() -> None:
    body = "Sitemap: https://h.example/a.xml\nUser-agent: x\nsitemap:https://h.example/é.xml # c\nSITE-MAP: /rel.xml\nSitemap: https://h.example/a.xml\nSitemap:\n"
    assert robots.parse(body.encode()).sitemaps == (
        "https://h.example/a.xml",
        "https://h.example/é.xml",
        "/rel.xml",
    )
