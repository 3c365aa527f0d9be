"""The reference pages know every function, parameter and default."""

import re
from pathlib import Path

import pytest

import ingather
from ingather.conf import BUILTIN, PARAMETERS, FunctionSpec, RobotParameter
from ingather.conf.robot.robotpage import VENDOR, WHERE, renewed

DOCS = Path(__file__).parents[3] / "docs" / "reference"


def rows(text: str) -> dict[str, list[str]]:
    """Table rows by the name in their first cell."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| `")
    ]
    return {row[0].strip("`"): row[1:] for row in cells}


def shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


@pytest.mark.parametrize("parameter", PARAMETERS.values(), ids=lambda p: p.name)
def test_robot_conf_page_has_every_parameter(parameter: RobotParameter) -> None:
    _, _, absent, _, effect, where = rows((DOCS / "robot-conf.md").read_text())[parameter.name]
    assert absent.strip("`") == shown(parameter.default)
    assert effect.startswith(parameter.help)
    assert ("No effect yet" in effect) is not parameter.acts
    assert bool(where) is parameter.acts
    assert all(f"`{alias}`" in effect for alias in parameter.aliases)


def test_robot_conf_page_is_the_table_of_the_code() -> None:
    page = (DOCS / "robot-conf.md").read_text("utf-8")
    assert renewed(page) == page, "run: python -m ingather.conf.robot.robotpage docs/reference/robot-conf.md"
    assert set(VENDOR) | set(WHERE) <= set(PARAMETERS)


@pytest.mark.parametrize(
    "file", sorted({found for text in WHERE.values() for found in re.findall(r"`([\w/]+\.py)`", text)})
)
def test_where_a_parameter_acts_there_is_a_file(file: str) -> None:
    assert (Path(ingather.__file__).parent / file).is_file()


@pytest.mark.parametrize("function", BUILTIN.functions.values(), ids=lambda f: f.name)
def test_function_pages_have_every_parameter(function: FunctionSpec) -> None:
    pages = "\n".join(page.read_text() for page in sorted((DOCS / "rafs").glob("*.md")))
    (section,) = [part for part in pages.split("\n## ") if part.splitlines()[0] == function.name]
    section = section.split("\n# ")[0]
    assert function.help in section
    assert f"Directives: {function.allowed}." in section
    table = rows(section)
    assert list(table) == [p.name for p in function.parameters]
    for parameter in function.parameters:
        assert parameter.help in table[parameter.name]
        assert parameter.default is None or f"`{shown(parameter.default)}`" in table[parameter.name]
