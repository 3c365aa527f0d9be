"""A site with a login of each kind is crawled by serve: everything is read, nobody finds it, and no output has a secret in any form."""

import os
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from ingather.app.secrets import KeyFile, SecretStore
from ingather.testing.canaries import Canaries
from ingather.testing.loginsite import KINDS, LoginSite
from ingather.testing.rig import Rig

pytestmark = pytest.mark.timeout(300)

SECRETS = {kind: f"Kanari+{kind}/{number}7c" for number, kind in enumerate((*KINDS, "wrong"))}
ASKED = (
    *tuple(f"/api/v1/{name}" for name in ("status", "sources", "robot", "reports/errors", "sites", "runs")),
    "/metrics",
)
TOKEN, SESSION = "kanari-access-81d2", "kanari-session-0a4f"


CANARIES = Canaries((*SECRETS.values(), TOKEN, SESSION))
spoken = CANARIES.spoken


class CommandLines:
    """Looks for secrets in all command lines of the machine."""

    def __init__(self) -> None:
        self.spoken: list[str] = []

    def look(self) -> None:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                self.spoken += spoken(str(path), path.read_bytes())
            except OSError:  # it ended
                continue


@pytest.fixture
def lines() -> CommandLines:
    return CommandLines()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: CommandLines) -> Iterator[LoginSite]:
    (tmp_path / "accounts").write_text(f"CORP:crawler:{SECRETS['ntlm']}\n")
    monkeypatch.setenv("NTLM_USER_FILE", str(tmp_path / "accounts"))
    with LoginSite(SECRETS, token=TOKEN, session=SESSION, look=lines.look) as made:
        yield made


def test_every_kind_of_login_reads_its_pages_and_no_output_has_a_secret(
    rig: Rig, site: LoginSite, lines: CommandLines, tmp_path: Path
) -> None:
    origin = site.origin
    names = ", ".join(f'"{kind}"' for kind in (*KINDS, "wrong"))
    rig.site(origin, source="inside", keys=f"credentials = [{names}]\n")
    more = {
        "bearer": "", "oauth2": f'user = "crawler"\ntoken-url = "{origin}/token"\n', "ntlm": 'user = "crawler"\ndomain = "CORP"\n',
        "form": f'user = "crawler"\nform-url = "{origin}/form/login"\nuser-field = "user"\nsecret-field = "word"\n',
    }  # fmt: skip
    for kind in (*KINDS, "wrong"):
        keys = more.get(kind, 'user = "crawler"\n')
        real = "basic" if kind == "wrong" else kind
        rig.toml(f'[credential.{kind}]\nkind = "{real}"\nurl = "{origin}/{kind}/"\nsecret = "{kind}"\n{keys}')
    said: list[str] = []

    def tell(*words: str) -> str:
        ran = rig.call(*words)
        said.extend((ran.out, ran.err))
        return ran.out

    store = SecretStore(rig.path, KeyFile.of(rig.path, "", os.environ))
    for kind, value in SECRETS.items():
        store.set(kind, value, 1.0)
    rig.tune("log.level", "debug")
    with rig.serving() as served:
        served.rest(visits=3 * len(KINDS))
        said.extend(str(served.admin(path)) for path in ASKED)
        said.append(str(served.admin("/api/v1/explain?url=" + quote(f"{origin}/wrong/1"))))
        said.append(served.running.out)
        said.append(served.running.err)
    known = rig.known()
    for kind in KINDS:
        assert known[f"{origin}/{kind}/1"].described, (kind, known[f"{origin}/{kind}/1"])
        assert known[f"{origin}/{kind}/2"].described, kind
    assert rig.found("walrus") == [f"{origin}/"]
    assert site.refused <= 3
    explained = tell("explain", f"{origin}/wrong/1")
    assert "credential wrong" in explained
    for words in (("explain", "--fetch", f"{origin}/digest/9"), ("explain", "--fetch", f"{origin}/ntlm/9"), ("explain", f"{origin}/form/logout"),
                  ("config", "show"), ("config", "show", "--json"), ("config", "check"), ("config", "credentials"), ("secret", "list"),
                  ("secret", "list", "--json"), ("report", "errors"), ("doctor",), ("simulate", "--data", f"{origin}/basic/9"), ("backup", str(tmp_path / "backup"))):  # fmt: skip
        tell(*words)
    assert any("its key is not in the backup" in text for text in said)
    for value in SECRETS.values():  # the search finds what is there
        assert spoken("control", b"x" + b64encode(b"user:" + value.encode()))
        assert spoken("control", f"?word={quote_plus(value)}&".encode())
    assert not [one for text in said for one in spoken("output", text.encode())]
    assert lines.spoken == []
    for folder in (rig.path, tmp_path / "backup"):
        assert any(path.is_file() for path in folder.rglob("*"))
        assert CANARIES.kept(folder) == []
