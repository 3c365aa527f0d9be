"""A gate for a test: ready-made, or to measure."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ingather.testing.feedgate import RunningGate, open_gate


@pytest.fixture
def make_gate(tmp_path: Path) -> Iterator[Callable[..., RunningGate]]:
    """Open gates with the arguments of ``open_gate``; they close with the test."""
    with ExitStack() as stack:
        made: list[RunningGate] = []

        def make(**arguments: Any) -> RunningGate:
            made.append(stack.enter_context(open_gate(tmp_path / f"gate{len(made)}", **arguments)))
            return made[-1]

        yield make


@pytest.fixture
def gate(make_gate: Callable[..., RunningGate]) -> RunningGate:
    """A gate with the limits as shipped."""
    return make_gate()
