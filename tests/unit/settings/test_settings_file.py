"""ingather.toml: what is read, what is refused, and where the finger points."""

import pickle
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingather.conf.settings.file import SettingsFile, load_settings, read_settings
from ingather.conf.settings.kinds import Kind
from ingather.conf.settings.pages import commented_file
from ingather.conf.settings.values import BY_NAME, SETTINGS, Flag, Settings


def read(text: str, **other: object) -> SettingsFile:
    return read_settings(text.encode(), **other)  # type: ignore[arg-type]


def told(text: str) -> list[str]:
    return [str(d) for d in read(text).diagnostics]


def test_an_empty_file_gives_the_defaults() -> None:
    found = read("")
    assert not found.diagnostics
    assert found.settings.seconds("limits.total-timeout") == 120.0
    assert found.settings.size("limits.decoded-size") == 32 << 20
    assert found.settings.count("limits.prefix-urls") == 50_000
    assert found.settings.share("deletion.share") == 0.1
    assert found.settings.flag("deletion.held-shown")
    assert found.settings.text("gather.keep-bodies") == "all"
    assert found.settings.number("limits.ratio") == 100.0
    assert found.settings.address("listen.admin") == ("127.0.0.1", 7071)
    assert "utm_*" in found.settings.words("urls.drop-parameters")
    assert found.settings.origin("limits.total-timeout") == "default"


def test_values_come_with_file_and_line() -> None:
    text = (
        '# head\n[limits]\n\ntotal-timeout = "5m"   # long\nhead-fields = 7\n[disk]\nreserve-share = "2%"\n'
    )
    found = read(text).settings
    assert (found.seconds("limits.total-timeout"), found.origin("limits.total-timeout")) == (
        300.0,
        "ingather.toml:4",
    )
    assert (found.count("limits.head-fields"), found.origin("limits.head-fields")) == (7, "ingather.toml:5")
    assert (found.share("disk.reserve-share"), found.origin("disk.reserve-share")) == (
        0.02,
        "ingather.toml:7",
    )


def test_a_flag_beats_the_environment_which_beats_the_file_which_beats_the_default() -> None:
    text = '[limits]\ntotal-timeout = "1s"\ntls-timeout = "1s"\nfirst-byte-timeout = "1s"\n'
    environment = {"INGATHER_LIMITS_TOTAL_TIMEOUT": "2s", "INGATHER_LIMITS_TLS_TIMEOUT": "2s", "PATH": "/bin"}
    found = read(text, environment=environment, flags={"limits.total-timeout": Flag("--timeout", "3s")})
    values = {name: (found.settings.seconds(f"limits.{name}"), found.settings.origin(f"limits.{name}"))
              for name in ("total-timeout", "tls-timeout", "first-byte-timeout", "min-rate-window")}  # fmt: skip
    assert values == {
        "total-timeout": (3.0, "--timeout"),
        "tls-timeout": (2.0, "$INGATHER_LIMITS_TLS_TIMEOUT"),
        "first-byte-timeout": (1.0, "ingather.toml:4"),
        "min-rate-window": (30.0, "default"),
    }


def test_the_environment_speaks_for_every_kind() -> None:
    environment = {
        "INGATHER_LISTEN_SEARCH": "[::1]:0",
        "INGATHER_URLS_DROP_PARAMETERS": "sid, utm_*",
        "INGATHER_DELETION_HELD_SHOWN": "no",
        "INGATHER_GATHER_GATHERERS": "3",
        "INGATHER_POLITENESS_ADDRESS_STARTS": "0.5",
        "INGATHER_LIMITS_DECODED_SIZE": "1MiB",
        "INGATHER_DISK_RESERVE_SHARE": "1%",
        "INGATHER_LOG_LEVEL": "debug",
        "INGATHER_TEST_WORKERS": "4",
    }
    found = read("", environment=environment)
    assert not found.diagnostics
    values = found.settings
    assert values.address("listen.search") == ("::1", 0)
    assert values.words("urls.drop-parameters") == ("sid", "utm_*")
    assert not values.flag("deletion.held-shown")
    assert values.count("gather.gatherers") == 3
    assert values.number("politeness.address-starts") == 0.5
    assert values.size("limits.decoded-size") == 1 << 20
    assert values.share("disk.reserve-share") == 0.01
    assert values.text("log.level") == "debug"


def test_bad_and_unknown_variables_are_named() -> None:
    found = read(
        "", environment={"INGATHER_LIMITS_TOTAL_TIMEOT": "1s", "INGATHER_LIMITS_TLS_TIMEOUT": "soon"}
    )
    bad, unknown = sorted(found.diagnostics, key=lambda d: d.file)
    assert str(bad).startswith(
        "$INGATHER_LIMITS_TLS_TIMEOUT:1:1: error E-VALUE: limits.tls-timeout: 'soon' is not a"
    )
    assert str(unknown).startswith(
        "$INGATHER_LIMITS_TOTAL_TIMEOT:1:1: error E-KEY: no setting has this name; did you mean"
    )
    assert "INGATHER_LIMITS_TOTAL_TIMEOUT" in str(unknown)
    assert found.refused


def test_all_mistakes_are_told_at_once_with_line_column_and_nearest_name() -> None:
    text = (
        '[limit]\nurl-length = 5\n[limits]\ntotal-timeot = "1s"\n  tls-timeout = "soon"\nhead-fields = "many"\n'
        "url-length = 3\n[gather]\nkeep-bodies = 'some'\n"
    )
    assert told(text) == [
        "ingather.toml:1:2: error E-KEY: there is no section 'limit'; did you mean limits?",
        "ingather.toml:4:1: error E-KEY: [limits] has no key 'total-timeot'; did you mean total-timeout?",
        'ingather.toml:5:3: error E-VALUE: limits.tls-timeout: \'soon\' is not a duration; write it like "30s", "5m", "2h" or "7d"',
        "ingather.toml:6:1: error E-VALUE: limits.head-fields: 'many' is not a whole number; write a whole number without quotes",
        "ingather.toml:7:1: error E-VALUE: limits.url-length: 3 is out of bounds; allowed: 64 to 65536",
        "ingather.toml:9:1: error E-VALUE: gather.keep-bodies: 'some' is not known here; choose of: all, none",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[limits]\nconnect-timeout = '5s'", "connect-timeout stands in config/robot.conf, and only there"),
        ("depth = 3", "depth stands in config/robot.conf, and only there"),
        ("[gather]\nuser_agent = 'x'", "user-agent stands in config/robot.conf, and only there"),
        ("keep-bodies = 'all'", "it belongs into a section: [gather] keep-bodies"),
        ("[limits]\nkeep-bodies = 'all'", "did you mean [gather] keep-bodies?"),
        ("limits = 3", "write [limits] on a line of its own"),
        ("source = 3", "write [source.NAME] on a line of its own"),
        ("[source]\nhosts = ['a']", "write [source.NAME] on a line of its own"),
        ("[politeness]\nrecheck-min = '40d'", 'politeness.recheck-min ("40d") is larger than'),
    ],
)
def test_a_key_in_the_wrong_place_is_shown_the_right_one(text: str, said: str) -> None:
    assert any(said in line for line in told(text)), told(text)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("[limits]\nurl-length = \n", 2, 14),
        ("[limits\n", 1, 8),
        ("a = 1\na = 2\n", 2, 6),
        ("[limits]\n\n\nurl-length = 3 4", 4, 16),
        ("x = [1,\n2,\n", 2, 1),
        (f"[limits]\nurl-length = {'9' * 5000}\n", 1, 1),
        ("x = " + "[" * 100_000, 1, 1),
    ],
)
def test_a_syntax_error_has_a_place(text: str, line: int, column: int) -> None:
    (found,) = read(text).diagnostics
    assert (found.code, found.line) == ("E-SYNTAX", line)
    assert found.column in {column, 1}


def test_a_file_that_is_not_utf_8_is_named_with_the_byte() -> None:
    (found,) = read_settings(b'[log]\nlevel = "\xfc"\n').diagnostics
    assert (found.code, found.line, found.column) == ("E-ENCODING", 2, 10)


def test_an_unreadable_file_is_a_finding(tmp_path: Path) -> None:
    (found,) = load_settings(tmp_path / "ingather.toml").diagnostics
    assert (found.code, found.file) == ("E-FILE", "ingather.toml")


@pytest.mark.parametrize(
    "text", ["limits = { url-length = 3 }", "limits.url-length = 3", "[limits]\n'url-length' = 3"]
)
def test_every_way_of_writing_a_key_is_found(text: str) -> None:
    (found,) = read(text).diagnostics
    assert (found.line, "url-length" in found.text) == (text.count("\n") + 1, True)


def test_a_byte_order_mark_and_dos_lines_do_no_harm() -> None:
    found = read_settings(b'\xef\xbb\xbf[log]\r\n\r\nlevel = "debug"\r\n')
    assert found.settings.origin("log.level") == "ingather.toml:3"


def test_long_texts_do_not_hide_the_keys_behind_them() -> None:
    text = '[urls]\ndrop-parameters = [\n  """a]\n[log]\n""", # ]\n  \'x"\',\n]\n[log]\nlevel = "loud"\n'
    assert [d.line for d in read(text).diagnostics] == [9]


def test_every_setting_has_an_effect() -> None:
    assert [setting.name for setting in SETTINGS if not setting.acts] == []
    assert not read("[limits]\nsitemap-size = '2GiB'").diagnostics


def test_the_commented_file_is_valid_and_every_line_of_it_can_be_taken_out_of_its_comment() -> None:
    text = commented_file()
    assert not read(text).diagnostics
    switched_on = "\n".join(
        line[2:] if line.startswith("# ") and line[2:].partition(" = ")[0].replace("-", "").isalnum() and " = " in line
        else line
        for line in text.partition("# Sources:")[0].splitlines()
    )  # fmt: skip
    assert len(tomllib.loads(switched_on)["limits"]) == len([s for s in SETTINGS if s.section == "limits"])
    found = read(switched_on)
    assert [d for d in found.diagnostics if d.is_error] == []
    assert all(value.value == setting.default for setting, value in found.settings)
    assert all(value.origin.startswith("ingather.toml:") for _, value in found.settings)


def test_the_commented_sources_can_be_switched_on() -> None:
    part = commented_file().partition("# Sources:")[2].splitlines()
    keys = [line[2:] for line in part if line.startswith("# [") or " = " in line]
    found = read("\n".join(keys))
    assert not found.diagnostics
    assert found.sources["intranet"].scope().hosts == ("*",)


def test_a_setting_that_init_writes_stands_without_a_comment() -> None:
    found = read(commented_file({"listen.search": '"127.0.0.1:0"'}))
    assert found.settings.address("listen.search") == ("127.0.0.1", 0)


def test_what_changed_is_told_apart_by_whether_it_acts_at_once() -> None:
    live, start = Settings().changed(read("[log]\nlevel='debug'\nfiles=3").settings)
    assert ([s.name for s in live], [s.name for s in start]) == (["log.level"], ["log.files"])


def test_every_default_is_valid_and_reads_back_as_it_is_written() -> None:
    for setting in SETTINGS:
        raw = tomllib.loads(f"x = {setting.write(setting.default)}")["x"]
        assert setting.read(raw) == setting.default, setting.name
        assert setting.help.endswith((".", "...")), setting.name
    assert len(BY_NAME) == len(SETTINGS)


@settings(deadline=None, max_examples=120)
@given(st.data())
def test_any_valid_value_reads_back_as_it_is_written(data: st.DataObject) -> None:
    setting = data.draw(st.sampled_from(SETTINGS))
    raw: object
    match setting.kind:
        case Kind.FLAG:
            raw = data.draw(st.booleans())
        case Kind.CHOICE:
            raw = data.draw(st.sampled_from(setting.choices))
        case Kind.WORDS:
            raw = data.draw(st.lists(st.sampled_from(setting.choices) if setting.choices else st.text()))
        case Kind.ADDRESS:
            raw = f"host:{data.draw(st.integers(0, 65535))}"
        case Kind.SHARE:
            raw = data.draw(st.floats(setting.low or 0, 1))
        case Kind.INT | Kind.BYTES:
            raw = data.draw(st.integers(int(setting.low or 0), int(setting.high or 10**12)))
        case _:
            raw = round(data.draw(st.floats(setting.low or 0, setting.high or 10**6)), 6)
    try:
        value = setting.read(raw)
    except ValueError:
        return  # a rounded edge
    again = setting.read(tomllib.loads(f"x = {setting.write(value)}")["x"])
    assert again == (pytest.approx(value, abs=1e-9) if isinstance(value, float) else value)


@settings(deadline=None, max_examples=100)
@given(st.text(st.sampled_from("[]{}=.,#\"'\\\n a-limitsource1e_"), max_size=80))
def test_whatever_stands_in_the_file_is_a_finding_at_worst(text: str) -> None:
    read(text)


def test_asking_for_the_wrong_type_is_a_bug() -> None:
    with pytest.raises(TypeError):
        Settings().count("limits.total-timeout")
    with pytest.raises(KeyError):
        Settings().count("limits.nothing")


def test_settings_and_sources_travel_to_child_processes() -> None:
    found = read("[log]\nlevel = 'debug'\n[source.a]\nhosts = ['a.example']")
    again = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own bytes
    assert again.settings.origin("log.level") == "ingather.toml:2"
    assert again.sources == found.sources


def test_every_setting_that_the_code_asks_for_exists_with_that_type() -> None:
    kinds = {
        "seconds": {Kind.SECONDS}, "size": {Kind.BYTES}, "count": {Kind.INT}, "number": {Kind.NUMBER},
        "share": {Kind.SHARE}, "flag": {Kind.FLAG}, "text": {Kind.TEXT, Kind.CHOICE}, "words": {Kind.WORDS},
        "address": {Kind.ADDRESS},
    }  # fmt: skip
    asked = re.compile(r'settings\.(seconds|size|count|number|share|flag|text|words|address)\(\s*"([^"]+)"')
    wrong = [
        f"{path.name}: {getter} {name}"
        for path in (Path(__file__).parents[3] / "src" / "ingather").rglob("*.py")
        for getter, name in asked.findall(path.read_text("utf-8"))
        if name not in BY_NAME or BY_NAME[name].kind not in kinds[getter]
    ]
    assert not wrong
