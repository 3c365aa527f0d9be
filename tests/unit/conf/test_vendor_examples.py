"""Every example line of the vendor's two documents loads, however it was printed there."""

from collections.abc import Callable

import pytest

from ingather.conf import Loaded

Configure = Callable[..., Loaded]

LINES = {
    "filterrules-setup": "Setup fn=filterrules-setup config=./config/filterrules.conf logtype=normal",
    "setup-regex-cache": "Setup fn=setup-regex-cache cache-size=28",
    "setup-type-by-extension": "Setup fn=setup-type-by-extension file=./config/mime.types",
    "filter-by-exact": "Data fn=filter-by-exact src=type deny=text/plain",
    "filter-by-max": "MetaData fn-filter-by-max src=content-length value=1024",
    "md5": "Data fn=generate-md5\nData fn=filter-by-md5",
    "filter-by-prefix": "MetaData fn=filter-by-prefix src=type allow=text",
    "filter-by-regex in 002": r"MetaData fn=filter-by-regex src=host deny=\\\\*.gov",
    "filter-by-regex in 004": r"MetaData fn=filter-by-regex src=host deny=\\*.gov",
    "filterrules-process": "MetaData fn=filterrules-process",
    "assign-source": "Data fn=assign-source dst=type src=content-type",
    "assign-type-by-extension": "MetaData fn=assign-type-by-extension",
    "clear-source": "MetaData fn=clear-source src=path",
    "convert-to-html": "Data fn=convert-to-html type=application/x-mif\nData fn=convert-to-html type=unknown",
    "copy-attribute in 002": "Generate fn=copy-attribute \\\\\nsrc=partial-text dst=description truncate=200 clean=true",
    "copy-attribute in 004": "Generate fn=copy-attribute \\\nsrc=partial-text dst=description truncate=200 clean=true",
    "generate-by-exact": (
        'Generate fn="generate-by-exact" match="www.siroe.com:80" src="host"\nvalue="Siroe" dst="classification"'
    ),
    "generate-by-prefix": (
        'Generate fn="generate-by-prefix" match="http" src="protocol"\nvalue="World Wide Web" dst="classification"'
    ),
    "generate-by-regex": (
        'Generate fn="generate-by-regex" match="\\\\\\\\*.siroe.com"\nsrc="host" value="Siroe" dst="classification"'
    ),
    "generate-rd-expires": "Generate fn=generate-rd-expires",
    "generate-rd-last-modified": "Generate fn=generate-last-modified",
    "rename-attribute": 'Generate fn=rename-attribute src="author->author-name"',
    "enumerate-urls": "Enumerate fn=enumerate-urls type=text/html",
    "enumerate-urls-from-text": "Enumerate fn=enumerate-urls-from-text",
    "extract-full-text": "Generate fn=extract-full-text",
    "extract-html-meta": "Generate fn=extract-html-meta truncate=255 type=text/html",
    "extract-html-text": "Generate fn=extract-html-text truncate=255 type=text/html skip-headings=true",
    "extract-html-toc": "Generate fn=extract-html-toc truncate=255 level=3",
    "extract-source": 'Generate fn=extract-source src="md5,depth,rd-expires,rd-last-modified"',
    "filterrules-shutdown": "Shutdown fn=filterrules-shutdown",
}
SETUP = "Setup fn=filterrules-setup config=./config/filterrules.conf\nSetup fn=setup-type-by-extension file=mime.types\n"


@pytest.mark.parametrize("lines", LINES.values(), ids=LINES.keys())
def test_the_example_of_a_function(configure: Configure, lines: str) -> None:
    loaded = configure(f'<Filter name="enumeration-default">\n{SETUP}{lines}\n</Filter>\n')
    assert loaded.ok, [str(d) for d in loaded.diagnostics]
    assert loaded.enumeration is not None
    assert len(loaded.enumeration.directives) == 2 + sum(" fn" in line for line in lines.splitlines())


def test_all_examples_in_one_filter(configure: Configure) -> None:
    chosen = [lines for name, lines in LINES.items() if "004" not in name]
    loaded = configure('<Filter name="enumeration-default">\n' + "\n".join(chosen) + "\n</Filter>\n")
    assert loaded.ok, [str(d) for d in loaded.diagnostics]


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("bindir=path", "bindir", "path"),
        ("cmd-hook=\u201d/opt/bin/after run\u201d", "cmd-hook", "/opt/bin/after run"),
        ("command-timeout=120", "connect-timeout", 120.0),
        ("convert-timeout=600", "convert-timeout", 600.0),
        ("depth=-1", "depth", -1),
        ("email=user@hostname", "email", "user@hostname"),
        ("enable-ip=[true]", None, None),
        ("engine-concurrent=100", "engine-concurrent", 100),
        ("index-after-ngenerated=30", "index-after-ngenerated", 30),
        ("loglevel=100", "loglevel", 100),
        ("max-filesize-kb=1024", "max-filesize-kb", 1024),
        ("max-memory-per-url=64000", "max-memory-per-url", 64000),
        ("max-working=1024", "max-working", 1024),
        ("OnCompletion=loop", "oncompletion", "loop"),
        ("server-delay=0", "server-delay", 0.0),
        ("smart-host-heuristics=true", "smart-host-heuristics", True),
        ("user-agent=iPlanetRobot/4.0", "user-agent", "iPlanetRobot/4.0"),
        ("username=anonymous", "username", "anonymous"),
    ],
)
def test_the_examples_of_robot_conf(configure: Configure, line: str, name: str | None, value: object) -> None:
    loaded = configure(robot=f"{line}\n")
    assert loaded.ok is (name is not None), [str(d) for d in loaded.diagnostics]
    if name is not None:
        assert loaded.robot.values[name] == value
