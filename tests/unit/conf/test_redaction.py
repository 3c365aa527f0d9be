"""robot.conf's password is not shown with its file."""

import pytest

from ingather.app.publishing import differences
from ingather.cli.findings import told
from ingather.conf.redaction import redacted
from ingather.model.diagnostic import Diagnostic, Place


@pytest.mark.parametrize(
    "text",
    [
        "password=kanari\n", "Password = kanari word\n", '  password="kan\nkanari"\n', "password=\\\nkanari\n", "# password=kanari\n",
        '<Process username=u password="kanari" depth=3>\n', 'password="kanari\n',
    ],
)  # fmt: skip
def test_its_value_is_hidden_however_it_is_written(text: str) -> None:
    shown = redacted("robot.conf", f"depth=3\n{text}referer=x\n")
    assert "kanari" not in shown
    assert "********" in shown
    assert shown.startswith("depth=3\n")


def test_neither_findings_nor_an_import_show_it() -> None:
    body = b"pasword=1\npassword=kanari\ndepth=x password=kanari\n"
    found = [Diagnostic("E-TYPE", Place("robot.conf", line, 1), "wrong") for line in (1, 2, 3)]
    shown = "\n".join(told(found, {"robot.conf": body}))
    assert "pasword=1" in shown
    assert "kanari" not in shown
    assert "kanari" not in redacted("process.conf", "password=kanari")


def test_everything_else_is_as_it_stands() -> None:
    text = "no-password=1\nusername=password\n"
    assert redacted("robot.conf", text) == text
    assert redacted("filter.conf", "password=1") == "password=1"


def test_another_password_is_a_difference_without_being_shown() -> None:
    (line,) = differences(
        {"robot.conf": b"password=kanari"}, {"robot.conf": b"password=other"}, names=("a", "b")
    )
    assert "kanari" not in line
    assert "other" not in line.replace("another", "")


def test_what_was_meant_as_a_secret_in_settings_is_hidden() -> None:
    text = 'secret = "kanari 1"\n  fields = ["pw=kanari2"]\nproxy = ["http://u:kanari3@p:1"]\nurl = "https://h/a:b@c"\nsecrets = 1\n'
    shown = redacted("ingather.toml", text)
    assert "kanari" not in shown
    assert 'url = "https://h/a:b@c"\nsecrets = 1\n' in shown
    assert "kanari" not in redacted("robot.conf", "auto-proxy=http://u:kanari@proxy:3128/\n")
