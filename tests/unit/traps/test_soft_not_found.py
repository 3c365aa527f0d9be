"""Soft 404: suspects are held against a name that cannot exist; healthy hosts are asked nothing more."""

import asyncio
from collections.abc import Callable
from random import Random

import pytest

from ingather.extract.page import read_page
from ingather.model.page import Page
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.ports.renderer import NotAsked
from ingather.robot.visit.judged import UnfinishedError
from ingather.robot.visit.softnotfound import SoftNotFound, says_not_found
from ingather.testing.clock import FakeClock

LONG = " ".join(f"word{number}" for number in range(80))
Answerer = Callable[[str], Response | Failure | NotAsked]


def html(title: str, text: str) -> bytes:
    return f"<html><head><title>{title}</title></head><body><p>{text}</p></body></html>".encode()


def page(url: str, title: str, text: str) -> Page:
    return read_page(html(title, text), url=url, content_type="text/html")


def ok(url: str, title: str, text: str) -> Response:
    return Response(url=url, status=200, headers=(("content-type", "text/html"),), body=html(title, text))


class Host:
    """A host that answers what is asked for beside its pages."""

    def __init__(self, answer: Answerer) -> None:
        self.asked: list[str] = []
        self.clock = FakeClock()
        self._answer = answer
        self.soft = SoftNotFound(self._ask, lambda _: Scope(), self.clock, Random(1))  # noqa: S311 - names

    async def _ask(self, request: Request, _scope: Scope) -> Response | Failure | NotAsked:
        self.asked.append(request.url)
        await asyncio.sleep(0)
        return self._answer(request.url)

    def verdict(self, url: str, title: str, text: str) -> str:
        return asyncio.run(self.soft.verdict(url, "web", page(url, title, text)))


def soft(url: str) -> Response:
    return ok(url, "Oops - 404", f"The page {url} was not found on this server, please look elsewhere")


def honest(url: str) -> Response:
    return Response(url=url, status=404, body=b"")


def test_what_is_like_the_answer_to_a_name_that_cannot_exist_is_no_page() -> None:
    host = Host(soft)
    url = "http://a.test/news/gone.html"
    said = host.verdict(
        url, "Oops - 404", f"The page {url} was not found on this server, please look elsewhere"
    )
    (probe,) = host.asked
    assert said == f"soft 404: it is like the answer to {probe}, which cannot exist"
    assert probe.startswith("http://a.test/news/ingather-")
    assert probe.endswith(".html")


def test_long_texts_are_compared_by_fingerprint() -> None:
    host = Host(lambda url: ok(url, "Seite nicht gefunden", LONG))
    assert host.verdict("http://a.test/x/a", "Seite nicht gefunden", LONG)
    other = " ".join(f"other{number}" for number in range(80))
    assert not host.verdict("http://a.test/x/b", "Warum eine Seite nicht gefunden wird", other)


def test_a_page_about_404_on_an_honest_host_is_a_page_and_costs_one_request_a_day() -> None:
    host = Host(honest)
    for number in range(20):
        assert not host.verdict(f"http://a.test/help/{number}", "Error 404: not found", "What it means")
    assert len(host.asked) == 1
    host.clock.advance(86_500)
    host.verdict("http://a.test/help/9", "Error 404: not found", "What it means")
    assert len(host.asked) == 2


def test_a_page_about_404_on_a_host_with_soft_404_is_a_page() -> None:
    host = Host(soft)
    assert not host.verdict("http://a.test/help", "What 404 not found means", LONG)


def test_a_healthy_host_is_asked_nothing_more() -> None:
    host = Host(soft)
    for number in range(50):
        text = " ".join(f"w{number}x{word}" for word in range(80))
        assert not host.verdict(f"http://a.test/{number}", f"Article {number}", text)
    assert host.asked == []


def test_one_text_at_many_addresses_is_suspected() -> None:
    host = Host(lambda url: ok(url, "Welcome", LONG))
    said = [host.verdict(f"http://a.test/{number}", "Welcome", LONG) for number in range(8)]
    assert [bool(one) for one in said] == [False] * 4 + [True] * 4
    assert len(host.asked) == 1


def test_one_text_at_many_addresses_of_an_honest_host_is_left_to_the_filters() -> None:
    host = Host(honest)
    assert not any(host.verdict(f"http://a.test/{number}", "Welcome", LONG) for number in range(8))


@pytest.mark.parametrize(
    "answer",
    [NotAsked("robots", "line 3"), Failure("http://a.test/", FailureKind.DNS, "no"), Response(url="http://a.test/", status=302),
     Response(url="http://a.test/", status=200, headers=(("content-type", "image/png"),), body=b"\x89PNG\r\n\x1a\n")],
)  # fmt: skip
def test_without_a_page_to_compare_with_a_page_is_a_page(answer: Response | Failure | NotAsked) -> None:
    host = Host(lambda _: answer)
    assert not host.verdict("http://a.test/x", "Not found", "Not found")


def test_a_gatherer_that_ends_takes_no_suspect_for_a_page() -> None:
    host = Host(lambda _: NotAsked("stop", "the gatherer ends"))
    with pytest.raises(UnfinishedError):
        host.verdict("http://a.test/x", "Not found", "Not found")


def test_the_root_is_never_suspected_and_folders_are_probed_apart_but_not_without_end() -> None:
    host = Host(honest)
    assert not host.verdict("http://a.test/", "404 not found", "x")
    assert host.asked == []
    for folder in "abcdefghijklmnop":
        host.verdict(f"http://a.test/{folder}/x", "404 not found", "x")
    assert len(host.asked) == 8


def test_suspects_at_the_same_time_make_one_probe() -> None:
    host = Host(soft)

    async def both() -> list[str]:
        work = [
            host.soft.verdict(
                f"http://a.test/{name}",
                "web",
                page(f"http://a.test/{name}", "404", f"The page {name} was not found"),
            )
            for name in "abc"
        ]
        return list(await asyncio.gather(*work))

    asyncio.run(both())
    assert len(host.asked) == 1


@pytest.mark.parametrize(
    "title",
    ["404", "Page not found", "Error 404 (Not Found)", "Seite nicht gefunden", "Page introuvable", "Página no encontrada",
     "Pagina non trovata", "Página não encontrada", "Pagina niet gevonden", "Nie znaleziono strony", "Страница не найдена",
     "ページが見つかりません", "找不到网页", "Sayfa bulunamad\u0131", "This page no longer exists", "We can't find that page",
     "PAGE IS MISSING", "It does not exist", "Nicht vorhanden", "Seite existiert nicht", "Cette page n'existe plus", "Non trouv\u00e9e",
     "La p\u00e1gina no existe", "La pagina non esiste", "A p\u00e1gina n\u00e3o existe", "BESTAAT NIET", "Strona nie istnieje", "Sidan hittades inte",
     "Sidan finns inte", "Siden blev ikke fundet", "Ikke funnet", "Str\u00e1nka nenalezena", "Str\u00e1nka neexistuje", "\u041d\u0415 \u0421\u0423\u0429\u0415\u0421\u0422\u0412\u0423\u0415\u0422",
     "Nem tal\u00e1lhat\u00f3", "Sivua ei l\u00f6ytynyt", "\u672a\u627e\u5230", "\u9875\u9762\u4e0d\u5b58\u5728"],
)  # fmt: skip
def test_not_found_in_many_languages(title: str) -> None:
    assert says_not_found(page("http://a.test/", title, "x"))


@pytest.mark.parametrize("title", ["Route 4041", "Lost and found", "A page", "Fundbüro", ""])
def test_ordinary_titles(title: str) -> None:
    assert not says_not_found(page("http://a.test/", title, "x"))
