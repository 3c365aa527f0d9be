"""What every test gets: a home of its own, no settings or proxies from outside, patient properties."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from ingather import log

from .rewriting import rewrite

# No deadline: 200 ms for an example says something about the machine's load, not about the code. Sixty examples
# each time the suite runs, that is often.
# INGATHER_HYPOTHESIS=long is for the endurance runs.
settings.register_profile(
    "house", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", parent=settings.get_profile("house"), max_examples=5_000)
settings.load_profile(os.environ.get("INGATHER_HYPOTHESIS", "house"))


def pytest_configure(config: pytest.Config) -> None:
    """Prepare what every worker needs, in the process that starts them."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        here = Path(__file__).parent
        rewrite(config, sorted([*here.rglob("test_*.py"), *here.rglob("conftest.py")]))


PROXY_VARIABLES = ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _sealed(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Nobody's own settings, proxies, .netrc or configuration reach a test or its children."""
    for name in list(os.environ):
        if name.startswith("INGATHER_") or name.lower() in PROXY_VARIABLES:
            monkeypatch.delenv(name)
    user = tmp_path_factory.mktemp("user")
    monkeypatch.setenv("HOME", str(user))
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    # The console may be anything; what a command prints must not depend on it.
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A path for an Ingather home; nothing is there yet, `ingather init` makes it."""
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def _log_of_this_test_only() -> Iterator[None]:
    """A command that ran here pointed the log at this test's streams, which are closed after it."""
    yield
    log.reset()
