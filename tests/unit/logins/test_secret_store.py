"""Secrets by name: encrypted, their key outside the home; what is lost, wrong or changed is said and gives nothing."""

import json
import subprocess
import sys
from base64 import b64decode, b64encode
from pathlib import Path

import pytest

from ingather.app.doctor.secretive import check_secrets
from ingather.app.home import Home
from ingather.app.reaching.ledger import FileLedger
from ingather.app.secrets import FILE, KeyFile, SecretStore
from ingather.conf.settings.file import read_settings
from ingather.errors import UsageError

CANARY = "kanari-7f2e-ä"


@pytest.fixture
def store(tmp_path: Path) -> SecretStore:
    home = tmp_path / "home"
    home.mkdir()
    return SecretStore(home, KeyFile(tmp_path / "config" / "secrets.key"))


def test_a_secret_comes_back_and_stands_nowhere_in_clear(store: SecretStore) -> None:
    assert store.set("wiki", CANARY, 5.0) is True
    assert store.set("other", "x", 6.0) is False
    assert (store.get("wiki").value, store.get("wiki").set_s) == (CANARY, 5.0)
    assert store.names() == {"other": 6.0, "wiki": 5.0}
    body = store.path.read_text("utf-8")
    assert CANARY not in body
    assert b64encode(CANARY.encode()).decode() not in body
    assert CANARY not in repr(store.get("wiki"))
    assert store.path.stat().st_mode & 0o777 == store.key.path.stat().st_mode & 0o777 == 0o600
    store.delete("wiki")
    with pytest.raises(UsageError, match="there is no secret 'wiki'"):
        store.get("wiki")


def test_a_lost_key_or_another_one_is_said_and_no_new_one_is_made(store: SecretStore) -> None:
    store.set("wiki", CANARY, 1.0)
    key = store.key.path.read_bytes()
    store.key.path.unlink()
    for work in (lambda: store.get("wiki"), lambda: store.set("b", "x", 2.0), store.rekey, store.check):
        with pytest.raises(UsageError, match="key of the secrets is missing"):
            work()
    assert not store.key.path.exists()
    store.key.make()
    with pytest.raises(UsageError, match="is not the key of these secrets"):
        store.get("wiki")
    store.key.path.write_bytes(b"nonsense\n")
    with pytest.raises(UsageError, match="holds no key"):
        store.get("wiki")
    store.key.path.write_bytes(key)
    store.key.path.chmod(0o644)
    with pytest.raises(UsageError, match="others may read"):
        store.get("wiki")
    store.key.path.chmod(0o600)
    assert store.get("wiki").value == CANARY


def test_secrets_are_bound_to_their_names_and_whole(store: SecretStore) -> None:
    store.set("a", CANARY, 1.0)
    store.set("b", "other", 1.0)
    tree = json.loads(store.path.read_bytes())
    tree["secrets"]["a"], tree["secrets"]["b"] = tree["secrets"]["b"], tree["secrets"]["a"]
    store.path.write_text(json.dumps(tree))
    with pytest.raises(UsageError, match="cannot be opened"):
        store.get("a")
    sealed = bytearray(b64decode(tree["secrets"]["a"]["value"]))
    sealed[0] ^= 1
    tree["secrets"]["a"]["value"] = b64encode(sealed).decode()
    store.path.write_text(json.dumps(tree))
    with pytest.raises(UsageError, match="cannot be opened"):
        store.get("a")
    for broken in ("", "[]", "{}", '{"version": 1, "key": "", "secrets": {"a": 5}}', '{"version": 2, "key": "", "secrets": {}}'):  # fmt: skip
        store.path.write_text(broken)
        with pytest.raises(UsageError, match="is broken"):
            store.get("a")


def test_a_new_key_opens_everything_and_the_old_one_nothing(store: SecretStore) -> None:
    store.set("a", CANARY, 1.0)
    old = store.key.path.read_bytes()
    assert store.rekey() == 1
    assert store.key.path.read_bytes() != old
    assert (store.get("a").value, store.get("a").set_s) == (CANARY, 1.0)
    store.key.path.write_bytes(old)
    with pytest.raises(UsageError, match="is not the key"):
        store.get("a")


@pytest.mark.parametrize("cut", [1, 2])
def test_a_rekey_that_is_cut_short_loses_nothing(
    store: SecretStore, cut: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third write never comes: after each of the others the secrets can be opened."""
    store.set("a", CANARY, 1.0)
    done = 0
    write = Path.replace

    def replace(self: Path, target: Path) -> Path:
        nonlocal done
        if done >= cut:
            raise OSError(5, "cut")
        done += 1
        return write(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(UsageError):
        store.rekey()
    monkeypatch.undo()
    assert store.get("a").value == CANARY
    store.rekey()
    assert store.get("a").value == CANARY


def test_where_the_key_is(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    assert KeyFile.of(home, "", {"HOME": "/h"}).path == Path("/h/.config/ingather/secrets.key")
    assert KeyFile.of(home, "", {"HOME": "/h", "XDG_CONFIG_HOME": "/c"}).path == Path(
        "/c/ingather/secrets.key"
    )
    assert KeyFile.of(home, "/k/key", {}).path == Path("/k/key")
    (tmp_path / "given").mkdir()
    environment = {"HOME": "/h", "CREDENTIALS_DIRECTORY": str(tmp_path / "given")}
    assert not KeyFile.of(home, "", environment).given
    KeyFile(tmp_path / "given" / "ingather-secrets-key").make()
    given = KeyFile.of(home, "", environment)
    assert given.given
    assert len(given.read()) == 1
    with pytest.raises(UsageError, match="systemd"):
        given.make()
    for inside in (str(home / "key"), str(home / ".." / "home" / "key")):
        with pytest.raises(UsageError, match="would lie in the home"):
            KeyFile.of(home, inside, {})
    with pytest.raises(UsageError, match="no whole path"):
        KeyFile.of(home, "key", {})


@pytest.mark.parametrize(("name", "value"), [("", "x"), ("-a", "x"), ("a b", "x"), ("a" * 65, "x"), ("a", ""), ("a", "x\0"), ("a", "x" * 65_537)])  # fmt: skip
def test_what_is_no_name_or_no_secret(store: SecretStore, name: str, value: str) -> None:
    with pytest.raises(UsageError):
        store.set(name, value, 1.0)
    assert not store.path.exists()


def test_the_verbs_take_a_secret_from_standard_input_and_show_none(tmp_path: Path) -> None:
    home = tmp_path / "home"

    def ingather(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ingather", *words], input=given, capture_output=True, text=True, timeout=120, check=False
        )  # fmt: skip

    assert ingather("init", str(home)).returncode == 0
    with (home / "ingather.toml").open("a") as stream:
        stream.write('[credential.wiki]\nurl = "https://wiki.example/"\nuser = "u"\nsecret = "wiki"\n')
    made = ingather("secret", "set", "wiki", "--home", str(home), given=CANARY + "\n")
    assert made.returncode == 0, made.stderr
    assert "no backup" in made.stderr
    listed = ingather("secret", "list", "--home", str(home))
    assert "wiki  set 20" in listed.stdout
    assert "for wiki" in listed.stdout
    assert CANARY not in made.stdout + made.stderr + listed.stdout + listed.stderr
    refused = ingather("secret", "set", "wiki", CANARY, "--home", str(home))
    assert refused.returncode == 2
    assert "kanari" not in refused.stderr + refused.stdout
    assert (home / FILE).exists()


def test_the_doctor_says_what_is_missing(tmp_path: Path) -> None:
    home = Home.create(tmp_path / "home")
    text = (
        '[source.web]\ncredentials = ["a"]\n[credential.a]\nurl = "https://h/"\nuser = "u"\nsecret = "one"\n'
    )
    read = read_settings(text.encode())
    environment = {"HOME": str(tmp_path)}

    def told() -> list[tuple[str, str]]:
        found = check_secrets(home, read.settings, read.sources, environment)
        return [(str(one.level), one.text) for one in found]

    assert "wants the secret one, which was never set" in told()[0][1]
    store = SecretStore(home.path, KeyFile.of(home.path, "", environment))
    store.set("one", CANARY, 1.0)
    ((level, text),) = told()
    assert level == "ok"
    assert "is in no backup of the home" in text
    ledger = FileLedger(home.run, "a", "", 1, wall=lambda: 1e9, monotonic=lambda: 0.0)
    ledger.begin()
    ledger.ended(refused=True, text="no")
    assert "suspended after 1 refusals" in told()[0][1]
    store.key.path.chmod(0o640)
    assert "others may read" in told()[-1][1]
    store.key.path.unlink()
    ((level, text),) = [one for one in told() if "no secret is sent" in one[1]]
    assert level == "error"
