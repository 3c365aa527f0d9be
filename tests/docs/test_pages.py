"""The documents are held to the code: what they name exists, what exists they name."""

import re
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import pytest

from ingather.cli import VERBS
from ingather.cli.group import root
from ingather.conf.settings.table import SECTIONS, SETTINGS
from ingather.conf.sources.sections import SOURCE_KEYS
from ingather.filters.rafs import builtin_registry

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAPERS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")

_CODE = re.compile(
    r"^(?P<fence>```+|:::+)(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=fence)\s*$", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]*)\)")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Document:
    """One Markdown file."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def prose(self) -> str:
        """The text without fenced blocks and code spans."""
        return re.sub(r"`[^`\n]+`", "", _CODE.sub("", self.text))

    def links(self) -> list[str]:
        return [target for target in _LINK.findall(self.prose) if not re.match(r"[a-z]+:", target)]

    def anchors(self) -> set[str]:
        """Ids of headings, formed as the documents' builder forms them."""
        found = set()
        for heading in _HEADING.findall(_CODE.sub("", self.text)):
            plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading)
            found.add(re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-"))
        return found

    def blocks(self, info: str) -> list[str]:
        return [found["body"] for found in _CODE.finditer(self.text) if found["info"].strip() == info]

    def commands(self) -> list[str]:
        """What stands behind ``$`` in console blocks, continued lines joined, comments taken off."""
        lines = "\n".join(self.blocks("console")).replace("\\\n", " ").splitlines()
        return [line.strip()[2:].split("  #")[0].strip() for line in lines if line.strip().startswith("$ ")]


@cache
def documents() -> tuple[Document, ...]:
    """All documents, the papers at the root included."""
    paths = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
    paths += [ROOT / name for name in PAPERS if (ROOT / name).is_file()]
    return tuple(Document(path, path.read_text("utf-8")) for path in paths)


def document(name: str) -> Document:
    """Return the document at *name* below the root."""
    return next(found for found in documents() if found.name == name)


CLI = "docs/reference/cli.md"
ALL = pytest.mark.parametrize("page", documents(), ids=lambda page: page.name)


@ALL
def test_links_lead_to_a_file_and_a_heading_that_are_there(page: Document) -> None:
    dangling = []
    for target in page.links():
        path, _, fragment = target.partition("#")
        place = (page.path.parent / path).resolve() if path else page.path
        found = next((d for d in documents() if d.path == place), None)
        if not place.exists() or (fragment and found is not None and fragment not in found.anchors()):
            dangling.append(target)
    assert not dangling


@ALL
def test_every_page_has_one_title(page: Document) -> None:
    outside = re.sub(r"^(```+|:::+).*?^\1\s*$", "", page.text, flags=re.MULTILINE | re.DOTALL)
    assert len(re.findall(r"^# ", outside, re.MULTILINE)) == 1


def test_the_command_line_s_page_has_every_verb_and_no_other() -> None:
    headings = re.findall(r"^### ingather (\S+)$", document(CLI).text, re.MULTILINE)
    assert sorted(headings) == sorted(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_the_command_line_s_page_has_every_option(verb: str) -> None:
    section = document(CLI).text.partition(f"### ingather {verb}\n")[2].partition("\n### ")[0]
    missing = [option for option in options(command_of([verb])) if f"{option}" not in section]
    assert not missing


@ALL
def test_commands_in_the_documents_are_understood(page: Document) -> None:
    for line in page.commands():
        for part in re.split(r"\s*(?:&&|\|\||;)\s*", line):
            words = [word for word in shlex.split(part, comments=True) if word != "export"]
            if words[:1] != ["ingather"] or is_synopsis(part):
                continue
            understand(words[1:])


def test_every_registered_function_has_its_place_in_the_reference() -> None:
    described = {
        heading
        for page in documents()
        if page.name.startswith("docs/reference/rafs/")
        for heading in re.findall(r"^## `?([a-z0-9-]+)`?$", page.text, re.MULTILINE)
    }
    assert {function.spec.name for function in builtin_registry()} <= described


@ALL
def test_settings_that_are_named_exist(page: Document) -> None:
    known = {f"{setting.section}.{setting.key}" for setting in SETTINGS}
    sections = "|".join(SECTIONS)
    named = re.findall(rf"`((?:{sections})\.[a-z-]+)`", page.text)
    places = {"log.py", "index.md", "secrets.json"}
    assert {name for name in named if name not in places} <= known


def test_keys_of_a_source_that_the_tasks_show_exist() -> None:
    known = {setting.key for setting in SOURCE_KEYS}
    for page in documents():
        for block in page.blocks("toml"):
            section = ""
            for line in block.splitlines():
                section = line.strip("[] ") if line.startswith("[") else section
                if section.startswith("source.") and "=" in line:
                    assert line.split("=")[0].strip() in known, (page.name, line)


def test_the_readme_names_the_two_commands_and_the_first_three_lines() -> None:
    commands = document("README.md").commands()
    assert [line for line in commands if line.startswith("./run ")] == ["./run demo", "./run test"]
    assert [line.split()[1] for line in commands if line.startswith("ingather ")] == [
        "init",
        "crawl",
        "search",
    ]


def test_no_room_is_without_a_page() -> None:
    rooms = {path.parent.name for path in (ROOT / "src" / "ingather").glob("*/__init__.py")}
    pages = {path.stem for path in (DOCS / "rooms").glob("*.md")} - {"index"}
    assert {"index-room" if room == "index" else room for room in rooms} - pages == set()


def command_of(words: list[str]) -> click.Command:
    command = root(VERBS)
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None, word
        command = found
    return command


def options(command: click.Command) -> set[str]:
    found = {
        option
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option.startswith("--") and option != "--help"
    }
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found |= options(command_of_group(command, name))
    return found


def command_of_group(group: click.Group, name: str) -> click.Command:
    found = group.get_command(click.Context(group), name)
    assert found is not None
    return found


def is_synopsis(line: str) -> bool:
    return bool(re.search(r"\[[A-Za-z-]|\]\.\.\.|VERB|URL\|PREFIX|\bNUMBER\b|QUERY\.\.\.", line))


def understand(words: list[str]) -> None:
    """Parse as the command line would, without running anything."""
    command: click.Command = root(VERBS)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        command, words = command_of_group(command, words[0]), words[1:]
    if not isinstance(command, click.Group):
        command.make_context("ingather", list(words))
