"""A web with everything on that a robot meets, and the home that gathers it: the ground of the long kill trial.

Plain hosts with sitemaps; a host that wants a password, one with a form and sessions that end, one that sets cookies, one that
only a proxy reaches (a PAC file says so, the proxy wants a password); a calendar without end; pages that are nearly alike, that
name another as their own, that say 200 and mean 404, that are gone in the second generation; documents; a page that scripts
make; a tree of files.
"""

import asyncio
import io
import sys
import tempfile
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Final, Self
from unittest.mock import patch

from ingather.model.lifecycle import Outcome
from ingather.testing.canaries import Canaries
from ingather.testing.documents import docx
from ingather.testing.featured import Asked, FeaturedHosts
from ingather.testing.prose import paragraph
from ingather.testing.proxy import KitProxy
from ingather.testing.reach import reachable
from ingather.testing.rig import Rig
from ingather.testing.server import SyntheticServer
from ingather.testing.site import html
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

__all__ = ["CALENDAR_URLS", "DELAY_S", "CrashWorld"]

DELAY_S: Final = 0.3
CALENDAR_URLS: Final = 70
"""Budget of the calendar's folder: so many of its dates are visited, however often the counting is interrupted."""
SHAPE: Final = WebShape(sites=2, pages=9, depth=3, degree=3, paragraphs=2, sitemaps=True)
_SESSION_REQUESTS: Final = 9
_DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_FOUND = frozenset({Outcome.INDEXED, Outcome.UNCHANGED, Outcome.DUPLICATE})
_KINDS: Final = {
    "page": _FOUND | {Outcome.NOINDEX},
    "text": _FOUND,
    "copy": _FOUND | {Outcome.NOINDEX},
    "redirect": frozenset({Outcome.REDIRECTED}),
    "missing": frozenset({Outcome.NOT_FOUND}),
    "forbidden": frozenset({Outcome.ROBOTS}),
    "soft": frozenset({Outcome.SOFT_404}),
    "listing": frozenset({Outcome.ENUMERATED, Outcome.UNCHANGED}),
}
_HOSTS: Final = ("basic", "form", "cookies", "calendar", "mixed", "scripts")


@dataclass
class CrashWorld:
    """Hosts, a home and what must be in it. Use as a context manager.

    Args:
        folder: for the home, its key and its temporary files.
        seed: of the plain hosts.
        browser: whether the page of scripts is there; it takes Chromium.
    """

    folder: Path
    seed: int
    browser: bool

    def __post_init__(self) -> None:
        mark = f"{self.seed:x}"
        self.secrets = {name: f"Kanari+{name}/{mark}7c" for name in ("basic", "form", "proxy")}
        self.person = f"kanari-person-{mark}"
        self.session, self.cookie = f"kanari-session-{mark}", f"kanari-cookie-{mark}"
        self.canaries = Canaries((*self.secrets.values(), self.person, self.session, self.cookie))
        self.rig = Rig(self.folder / "home")
        self.files = self.folder / "tree"
        self.generation = 0
        self._sessions: dict[str, int] = {}
        self._stack = ExitStack()
        self.proxied: list[bytes] = []

    def __enter__(self) -> Self:
        # Not in the folder: a browser that root starts runs as nobody, who may not see what is below it.
        self.temporary = Path(
            self._stack.enter_context(tempfile.TemporaryDirectory(prefix="ingather-crash-"))
        )
        self.temporary.chmod(0o755)
        self.plain = self._stack.enter_context(
            SyntheticServer(SyntheticWeb(self.seed, SHAPE), latency_s=0.01)
        )
        self.featured = FeaturedHosts(*_HOSTS, behind="behind.test", latency_s=0.01)
        self._stack.enter_context(self.featured)
        self._proxy_port = self._stack.enter_context(_proxy(f"robot:{self.secrets['proxy']}", self.proxied))
        for name, answers in (
            ("basic", self._basic), ("form", self._form), ("cookies", self._cookies), ("calendar", self._calendar),
            ("mixed", self._mixed), ("scripts", self._scripts), ("behind.test", self._behind),
        ):  # fmt: skip
            self.featured.hosts[name].answers = answers
        self._grow()
        self._configure()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def origin(self, name: str) -> str:
        """Return ``http://HOST:PORT`` of a featured host."""
        return self.featured.hosts[name].origin

    @property
    def wrong(self) -> list[str]:
        """What nobody should have sent."""
        return [line for host in self.featured.hosts.values() for line in host.wrong]

    def change(self) -> None:
        """Let the second generation begin: pages are gone, others say something else."""
        self.generation = 1
        self.plain.web.generation = 1
        self._grow()

    def gone(self) -> tuple[str, ...]:
        """Return what is not there any more in the second generation."""
        mixed = self.origin("mixed")
        return (f"{mixed}/gone/404", f"{mixed}/gone/410", f"{self.files.as_uri()}/gone.html")

    def open_words(self) -> dict[str, str]:
        """Return words with the URL that everybody finds by them."""
        mixed = self.origin("mixed")
        words = {"canonicus": f"{mixed}/c/main", "orphanus": f"{mixed}/orphan", "proxius": f"{self.origin('behind.test')}/p1",
                 f"moving{self.generation}": f"{mixed}/moving"}  # fmt: skip
        if self.browser:
            words["scriptus"] = f"{self.origin('scripts')}/"
        return words

    def closed_words(self) -> dict[str, str]:
        """Return words that nobody finds who was not let in, with the URL that Anna finds by them, or nothing."""
        return {"basicus": f"{self.origin('basic')}/b1", "formicus": "", "fileus": ""}

    def expected(self) -> dict[str, tuple[frozenset[Outcome], int]]:
        """Return what must have been made of each URL, and its depth."""
        web = self.plain.web
        listed = tuple(web.url(site, page) for site in range(SHAPE.sites) for page in range(web.count()))
        met = {url: (_KINDS[one.kind], one.depth) for url, one in reachable(web, listed=listed).items()}

        def add(name: str, kind: str, depth: int, *paths: str) -> None:
            met.update({self.origin(name) + path: (_KINDS[kind], depth) for path in paths})

        for name in ("basic", "form", "cookies", "mixed", "calendar", "behind.test"):
            add(name, "page", 0, "/")
        for name, first in (("basic", "b"), ("form", "f"), ("cookies", "k"), ("behind.test", "p")):
            add(name, "page", 1, *(f"/{first}{n}" for n in (1, 2, 3)))
        add(
            "mixed",
            "page",
            1,
            "/c/print",
            "/c/main",
            "/n/1",
            "/n/2",
            "/moving",
            "/orphan",
            "/d/1.docx",
            "/d/2.docx",
        )
        add("mixed", "soft", 1, "/soft/one.html", "/soft/two.html")
        add("mixed", "page", 1, "/gone/404", "/gone/410")
        if self.browser:
            add("scripts", "page", 0, "/")
            add("scripts", "page", 1, "/made")
        tree = self.files.as_uri()
        met[f"{tree}/"] = (_KINDS["listing"], 0)
        met[f"{tree}/sub/"] = (_KINDS["listing"], 1)
        met |= {f"{tree}/{name}": (_FOUND, 1) for name in ("one.txt", "gone.html")}
        met[f"{tree}/sub/two.txt"] = (_FOUND, 2)
        for url in self.gone() if self.generation else ():
            met[url] = (frozenset({Outcome.NOT_FOUND}), 1)
        return met

    # -- the home ---------------------------------------------------------------------------------

    def _configure(self) -> None:
        rig = self.rig.init()
        for name, value in {
            "gather.gatherers": "2", "secrets.key-file": str(self.folder / "secrets.key"), "politeness.back-off": "1s",
            "catalog.outcome-wait": "0.05s", "gather.batch-wait": "0.05s",
        }.items():  # fmt: skip
            rig.tune(name, value)
        rig.variables["TMPDIR"] = str(self.temporary)
        slow = f'delay = "{DELAY_S}s"\n'
        for number, origin in enumerate(self.plain.origins):
            rig.site(origin, source=f"plain{number}", own=False, keys=slow)
        rig.site(self.origin("basic"), source="basic", own=False, keys=f'{slow}credentials = ["basic"]\nacl = ["user:anna"]\n')  # fmt: skip
        rig.site(self.origin("form"), source="form", own=False, keys=f'{slow}credentials = ["form"]\n')
        rig.site(self.origin("cookies"), source="cookies", own=False, keys=f"{slow}cookies = true\n")
        rig.site(self.origin("calendar"), source="calendar", keys=f"prefix-urls = {CALENDAR_URLS}\n")
        rig.site(
            self.origin("mixed"), source="mixed", own=False, keys=f'{slow}deletion-confirm-after = "0s"\n'
        )
        rig.site(self.origin("behind.test"), source="behind", own=False, keys=slow)
        if self.browser:
            rig.site(self.origin("scripts"), source="scripts", own=False, keys=f'{slow}javascript = "auto"\n')
        self._configure_files()
        form = f'form-url = "{self.origin("form")}/login"\nuser-field = "user"\nsecret-field = "word"\n'
        for name, kind, url, more in (
            ("basic", "basic", f"{self.origin('basic')}/", ""), ("form", "form", f"{self.origin('form')}/", form),
            ("proxy", "basic", f"http://127.0.0.1:{self._proxy_port}/", ""),
        ):  # fmt: skip
            user = "robot" if name == "proxy" else "crawler"
            rig.toml(
                f'[credential.{name}]\nkind = "{kind}"\nurl = "{url}"\nuser = "{user}"\nsecret = "{name}"\n{more}'
            )
        script = self.folder / "proxy.pac"
        script.write_text(
            f'function FindProxyForURL(url, host) {{ return host == "behind.test" ? "PROXY 127.0.0.1:{self._proxy_port}" : "DIRECT"; }}'
        )
        rig.tune("proxy.url", str(script)).tune("proxy.allowed", "127.0.0.1").tune(
            "proxy.credentials", "proxy"
        )
        for name, secret in self.secrets.items():
            with patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(secret.encode()))):
                ran = rig.call("secret", "set", name)
            assert ran.status == 0, ran.err

    def _configure_files(self) -> None:
        conf = self.rig.path / "config" / "filterrules.conf"
        tree = self.files.as_uri()
        site = f'<Site name="files" host="file:" type=server enable=true depth=10 source=files>\nStart url="{tree}/"\nProtocol allow="file"\n</Site>\n'
        conf.write_text(site + conf.read_text())
        self.rig.toml(
            f'[source.files]\nschemes = ["file"]\nroots = ["{self.files}"]\ndeletion-confirm-after = "0s"\n'
        )

    def _grow(self) -> None:
        (self.files / "sub").mkdir(parents=True, exist_ok=True)
        (self.files / "one.txt").write_text(f"fileus one, edition {self.generation}")
        (self.files / "sub" / "two.txt").write_text("fileus two")
        if self.generation:
            (self.files / "gone.html").unlink()
        else:
            (self.files / "gone.html").write_text(html("Gone", text="fileus soon gone"))

    # -- the hosts --------------------------------------------------------------------------------

    def _page(self, title: str, *links: str, text: str = "", head: str = "", **fields: str) -> Answer:
        headers = {
            "Content-Type": "text/html; charset=utf-8",
            **{k.replace("_", "-"): v for k, v in fields.items()},
        }
        return Answer(200, tuple(headers.items()), html(title, *links, text=text, head=head).encode())

    def _robots(self, asked: Asked, more: str = "") -> Answer | None:
        if asked.path == "/robots.txt":
            return Answer(
                200, (("Content-Type", "text/plain"),), f"User-agent: *\nDisallow: /private/\n{more}".encode()
            )
        return None

    def _no_cookies(self, name: str, asked: Asked) -> None:
        if "cookie" in asked.headers:
            self.featured.hosts[name].wrong.append(f"{name} was sent a cookie with {asked.path}")

    def _basic(self, asked: Asked) -> Answer:
        self._no_cookies("basic", asked)
        if found := self._robots(asked):
            return found
        wanted = "Basic " + b64encode(f"crawler:{self.secrets['basic']}".encode()).decode()
        shown = asked.headers.get("authorization", "")
        if shown != wanted:
            return Answer(401, (("WWW-Authenticate", 'Basic realm="kit"'), ("Set-Cookie", "spy=1")))
        links = ("/b1", "/b2", "/b3") if asked.path == "/" else ()
        return self._page(
            f"Closed {asked.path}", *links, text=f"basicus behind a password {asked.path}", Set_Cookie="spy=1"
        )

    def _form(self, asked: Asked) -> Answer:
        if found := self._robots(asked):
            return found
        host = self.featured.hosts["form"]
        if asked.method == "POST":
            if (asked.form.get("user"), asked.form.get("word")) != ("crawler", self.secrets["form"]):
                host.wrong.append("the form was sent with something else")
                return Answer(403)
            name = f"{self.session}-{len(self._sessions)}"
            self._sessions[name] = _SESSION_REQUESTS
            return Answer(303, (("Location", "/"), ("Set-Cookie", f"sid={name}; Path=/; HttpOnly")))
        if asked.path == "/login":
            fields = "<input name=user><input name=word type=password>"
            return Answer(
                200,
                (("Content-Type", "text/html"),),
                f"<form method=post action=/in>{fields}</form>".encode(),
            )
        sent = asked.headers.get("cookie", "").removeprefix("sid=")
        if "logout" in asked.path:
            host.wrong.append("the link of the logout was followed")
        if self._sessions.get(sent, 0) <= 0:
            return Answer(302, (("Location", "/login"),))
        self._sessions[sent] -= 1
        links = ("/f1", "/f2", "/f3", "/logout") if asked.path == "/" else ("/logout",)
        return self._page(f"Session {asked.path}", *links, text=f"formicus behind a form {asked.path}")

    def _cookies(self, asked: Asked) -> Answer:
        host = self.featured.hosts["cookies"]
        if asked.headers.get("cookie", f"own={self.cookie}") != f"own={self.cookie}":
            host.wrong.append(f"cookies was sent {asked.headers['cookie']}")
        if found := self._robots(asked):
            return found
        links = ("/k1", "/k2", "/k3") if asked.path == "/" else ()
        return self._page(
            f"Cookies {asked.path}",
            *links,
            text=f"a page of cookies {asked.path}",
            Set_Cookie=f"own={self.cookie}; Path=/",
        )

    def _behind(self, asked: Asked) -> Answer:
        self._no_cookies("behind.test", asked)
        if "proxy-authorization" in asked.headers:
            self.featured.hosts["behind.test"].wrong.append("the proxy's password went to the host")
        if found := self._robots(asked):
            return found
        links = ("/p1", "/p2", "/p3") if asked.path == "/" else ()
        word = "proxius" if asked.path == "/p1" else "remote"
        return self._page(
            f"Behind {asked.path}", *links, text=f"{word} behind a proxy {asked.path}", Set_Cookie="spy=1"
        )

    def _calendar(self, asked: Asked) -> Answer:
        if found := self._robots(asked):
            return found
        if asked.path == "/":
            return self._page("Calendar", "/app/cal/2027-01-01", text="all dates")
        day = date.fromisoformat(asked.path.rpartition("/")[2])
        ahead = (day + timedelta(days=days) for days in (31, 401, 803))
        return self._page(
            f"Dates of {day}", *(f"/app/cal/{one}" for one in ahead), text=f"nothing happens on {day}"
        )

    def _mixed(self, asked: Asked) -> Answer:
        self._no_cookies("mixed", asked)
        mixed = self.origin("mixed")
        if found := self._robots(asked, f"Sitemap: {mixed}/map.xml\n"):
            return found
        path = asked.path
        alike = paragraph(self.seed, 120)
        later = self.generation > 0
        stamp = date(2026, 1 + self.generation, 1)
        makers: dict[str, Callable[[], Answer]] = {
            "/": lambda: self._page(
                "Mixed", "/c/print", "/c/main", "/n/1", "/n/2", "/moving", "/d/1.docx", "/d/2.docx", "/soft/one.html", "/soft/two.html",
                "/gone/404", "/gone/410", text="of everything"),
            "/map.xml": lambda: Answer(200, (("Content-Type", "application/xml"),), (
                '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">' + "".join(
                    f"<url><loc>{mixed}{name}</loc><lastmod>{stamp}</lastmod><changefreq>daily</changefreq></url>"
                    for name in ("/orphan", "/moving")) + "</urlset>").encode()),
            "/c/print": lambda: self._page("Canonicus", text=f"canonicus {paragraph(self.seed + 1, 60)}", head=f'<link rel="canonical" href="{mixed}/c/main">'),
            "/c/main": lambda: self._page("Canonicus", text=f"canonicus {paragraph(self.seed + 1, 60)}"),
            "/n/1": lambda: self._page("Alike", text=f"{alike} walrus"),
            "/n/2": lambda: self._page("Alike", text=f"{alike} heron"),
            "/moving": lambda: self._page("Moving", text=f"moving{self.generation} text", Cache_Control="max-age=600"),
            "/orphan": lambda: self._page("Orphan", text="orphanus that only the sitemap knows"),
            "/gone/404": lambda: Answer(404) if later else self._page("Soon gone", text="sooner"),
            "/gone/410": lambda: Answer(410) if later else self._page("Soon gone too", text="later"),
            "/d/1.docx": lambda: _document(1),
            "/d/2.docx": lambda: _document(2),
        }  # fmt: skip
        maker = makers.get(path)
        if maker is not None:
            return maker()
        if path.startswith("/soft/"):
            return self._page("Page not found", text="Sorry, there is no such page here. Try the search.")
        return Answer(404)

    def _scripts(self, asked: Asked) -> Answer:
        self._no_cookies("scripts", asked)
        if found := self._robots(asked):
            return found
        if asked.path == "/":
            body = '<!DOCTYPE html><html lang="en"><head><title>Shell</title></head><body><div id="root"></div><script src="/app.js"></script></body></html>'
            return Answer(200, (("Content-Type", "text/html"), ("Set-Cookie", "spy=1")), body.encode())
        if asked.path == "/app.js":
            text = 'document.getElementById("root").innerHTML = "<h1>Made</h1><p>scriptus made by a script</p><a href=/made>on</a>";'
            return Answer(200, (("Content-Type", "text/javascript"),), text.encode())
        return (
            self._page("Made", text=f"a page to which a script leads {paragraph(self.seed + 2, 40)}")
            if asked.path == "/made"
            else Answer(404)
        )


def _document(number: int) -> Answer:
    text = f"<w:p><w:r><w:t>document number {number}</w:t></w:r></w:p>"
    return Answer(200, (("Content-Type", _DOCX),), docx(text))


@contextmanager
def _proxy(login: str, heads: list[bytes]) -> Iterator[int]:
    """Run a proxy that wants *login* in a thread; give its port."""
    loop = asyncio.new_event_loop()
    proxy = KitProxy(login=login)
    proxy.heads = heads
    loop.run_until_complete(proxy.__aenter__())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield proxy.port
    finally:
        asyncio.run_coroutine_threadsafe(proxy.__aexit__(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
