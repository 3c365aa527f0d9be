"""robot.conf: shapes, types, ranges, origins (section 5 of the robot specification)."""

from collections.abc import Callable
from copy import deepcopy

import pytest

from ingather.conf import PARAMETERS, Loaded, load_bodies, shipped
from ingather.model.diagnostic import Diagnostic

Configure = Callable[..., Loaded]


def of(loaded: Loaded, code: str) -> list[Diagnostic]:
    return [d for d in loaded.diagnostics if d.code == code]


def robot_errors(loaded: Loaded) -> list[str]:
    return [str(d) for d in loaded.diagnostics if d.is_error]


SHAPES = {
    "flat": 'csid="x-catalog://h:80/jack"\ncommand-port=21445\n# email="user@domain"\nloglevel=2\n',
    "published sample": (
        '<Process csid="x-catalog://h:80/jack" \\\n   command-port=21445\n   # email="user@domain"\n'
        "   loglevel=2\n</Process>\n"
    ),
    "closed header": '<Process csid="x-catalog://h:80/jack">\ncommand-port=21445\nloglevel=2\n</Process>\n',
    "all in the header": '<Process csid="x-catalog://h:80/jack" command-port=21445 \\\nloglevel=2 >\n</Process>\n',
    "late end of header": '<Process csid="x-catalog://h:80/jack"\ncommand-port=21445 loglevel=2\n>\n</Process>\n',
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES.keys())
def test_all_shapes_say_the_same(configure: Configure, text: str) -> None:
    loaded = configure(robot=text)
    assert robot_errors(loaded) == []
    robot = loaded.robot
    assert (robot.csid, robot.command_port, robot.loglevel) == ("x-catalog://h:80/jack", 21445, 2)
    assert robot.origin("depth") == "default"


def test_values_have_types_and_origins(configure: Configure) -> None:
    loaded = configure(
        robot='depth=-1\nServer_Delay = 2.5\nenable-ip=no\nonCompletion=shutdown\n\nuser-agent="My Robot/2.0"\n'
    )
    robot = loaded.robot
    assert (robot.depth, robot.server_delay, robot.enable_ip) == (-1, 2.5, False)
    assert (robot.oncompletion, robot.user_agent) == ("quit", "My Robot/2.0")
    assert robot.origin("server-delay") == "robot.conf:2"
    assert robot.origin("user-agent") == "robot.conf:6"
    assert deepcopy(robot) == robot
    with pytest.raises(AttributeError):
        _ = robot.no_such_parameter


def test_process_conf_is_the_old_name() -> None:
    files = {name: text.encode() for name, text in shipped().items()}
    files["process.conf"] = files.pop("robot.conf").replace(b"depth=10", b"depth=3")
    loaded = load_bodies(files)
    assert loaded.ok
    assert loaded.robot.depth == 3
    assert loaded.robot.origin("depth").startswith("process.conf:")


def test_without_a_file_there_are_the_defaults() -> None:
    files = {name: text.encode() for name, text in shipped().items() if name != "robot.conf"}
    loaded = load_bodies(files)
    assert loaded.ok
    assert loaded.robot.server_delay == 1.0
    assert {name: loaded.robot.origin(name) for name in PARAMETERS} == dict.fromkeys(PARAMETERS, "default")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("depth=-2", "E-RANGE"),
        ("depth=far", "E-TYPE"),
        ("depth=", "E-TYPE"),
        ("max-connections=0", "E-RANGE"),
        ("max-connections=101", "E-RANGE"),
        ("connect-timeout=0", "E-RANGE"),
        ("server-delay=-1", "E-TYPE"),
        ("enable-ip=maybe", "E-TYPE"),
        ("onCompletion=explode", "E-RANGE"),
        ("regex-dialect=perl", "E-RANGE"),
        ("cmd-hook=relative/path", "E-RANGE"),
        ("auto-proxy=gopher://proxy.example/", "E-RANGE"),
        ("depth=1 depth=2", "E-DUP-PARAM"),
        ("connect-timeout=5 command-timeout=6", "E-DUP-PARAM"),
        ("lonely", "E-PARAM"),
        ("<Robot>", "E-TAG"),
        ("</Process>", "E-PROCESS-CLOSE"),
        ("<Process depth=1", "E-TRUNC"),
        ('email="open', "E-QUOTE"),
        ("http://[bad/", "E-URL"),
    ],
)
def test_bad_values_are_refused_at_their_place(configure: Configure, line: str, code: str) -> None:
    loaded = configure(robot=f"# first\n{line}\n")
    found = [d for d in loaded.diagnostics if d.is_error]
    assert [d.code for d in found] == [code], robot_errors(loaded)
    assert (found[0].file, found[0].line) == ("robot.conf", 2)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("command-timeout=20", "W-ALIAS"),
        ("email=user@domain", "W-EMAIL"),
        ("enable-rdm-probe=true", "W-UNSUPPORTED"),
        ("site-max-connections=0", "W-NO-LIMIT"),
        ("enable-robots-txt=no", "W-ROBOTS"),
        ("proxy-type=auto", "W-NO-EFFECT"),
        ("serverdelay=3", "E-ROBOT-UNKNOWN"),
    ],
)
def test_what_has_a_catch_is_said(configure: Configure, line: str, code: str) -> None:
    loaded = configure(robot=f"{line}\n")
    assert loaded.ok
    assert [d.severity for d in of(loaded, code)] == ["warning"]


def test_an_unknown_parameter_names_the_nearest_and_is_kept(configure: Configure) -> None:
    loaded = configure(robot="serverdelay=3\n")
    assert "server-delay" in (of(loaded, "E-ROBOT-UNKNOWN")[0].hint or "")
    assert loaded.robot.unknown == {"serverdelay": "3"}
    assert not configure(robot="serverdelay=3\nstrict=on\n").ok


def test_the_placeholder_address_is_not_sent(configure: Configure) -> None:
    assert configure(robot="email=user@domain\n").robot.email == ""
    assert configure(robot="email=me@corp.example\n").robot.email == "me@corp.example"


def test_aliases_of_old_files(configure: Configure) -> None:
    robot = configure(
        robot="max-concurrent=4\nsite-max-concurrent=1\nmax-memory=1000\ncmdHook=/bin/true\n"
    ).robot
    assert (robot.max_connections, robot.site_max_connections) == (4, 1)
    assert (robot.max_memory_per_url, robot.cmd_hook) == (1000, "/bin/true")


def test_urls_are_starting_points(configure: Configure) -> None:
    rules = "<Site name=a host=a.example>\nStart url=http://a.example/x depth=4\n</Site>\n"
    text = "http://a.example/ depth=2\nhttps://b.example/?a=b\nhttp://a.example/x\ndepth=7\n"
    loaded = configure(robot=text, rules=rules)
    assert robot_errors(loaded) == []
    points = [(p.url, p.depth, p.site, p.where) for p in loaded.starting_points]
    assert points == [
        ("http://a.example/x", 4, "a", "filterrules.conf:2"),
        ("http://a.example/", 2, "", "robot.conf:1"),
        ("https://b.example/?a=b", 7, "", "robot.conf:2"),
    ]
    assert [d.line for d in of(loaded, "W-START")] == [2]
    wrapped = configure(robot="<Process csid=x\nhttp://a.example/ depth=2\n</Process>\n", rules=rules)
    assert [p.url for p in wrapped.starting_points] == ["http://a.example/x", "http://a.example/"]


def test_the_password_is_marked_secret() -> None:
    assert [p.name for p in PARAMETERS.values() if p.secret] == ["password"]
