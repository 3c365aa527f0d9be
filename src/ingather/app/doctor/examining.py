"""All looks of the doctor, one after the other; one that fails is a finding itself and spoils no other."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import chain
from typing import Final

from ingather.app.clock import SystemClock
from ingather.app.configuration import Configuration, read_configuration
from ingather.app.doctor import browsing, homely, listening, machine, secretive, stored
from ingather.app.doctor.finding import Finding, error, fine, warning
from ingather.app.home import Home
from ingather.errors import IngatherError
from ingather.model.urlparts import split

__all__ = ["CHECKS", "examine"]

CHECKS: Final = (
    "versions", "configuration", "permissions", "secrets", "disk", "limits", "clock", "dns", "ports", "certificates", "catalog", "sandbox",
    "browser",
)  # fmt: skip
"""What is looked at, in this order; ``catalog`` tells of bodies, index and holds too."""


def examine(
    home: Home, *, environment: Mapping[str, str] | None = None, only: Collection[str] = CHECKS
) -> list[Finding]:
    """Look at machine and home and return all findings, in the order of :data:`CHECKS`. Blocks; changes nothing.

    With mistakes in the configuration the defaults stand for what cannot be read. *only*: names of what is looked at.
    """
    env = os.environ if environment is None else environment
    clock = SystemClock()
    owner = listening.owner_of(home)
    read = read_configuration(home, environment=env)
    settings, robot = read.settings, read.loaded.robot
    looks: dict[str, Callable[[], Iterator[Finding]]] = {
        "versions": machine.check_versions,
        "configuration": lambda: _configuration(read),
        "permissions": lambda: homely.check_permissions(home, settings),
        "secrets": lambda: secretive.check_secrets(home, settings, read.sources, env),
        "disk": lambda: homely.check_disk(home, settings),
        "limits": lambda: machine.check_limits(settings),
        "clock": lambda: machine.check_clock(clock, stored.last_known_s(home)),
        "dns": lambda: machine.check_names(_hosts(read), clock),
        "ports": lambda: listening.check_ports(home, settings, robot, owner),
        "certificates": lambda: chain(
            homely.check_certificates(home, settings), homely.check_host_certificates(home)
        ),
        "catalog": lambda: stored.check_stored(
            home,
            settings,
            owned=owner is not None,
            starts=[start.url for start in read.loaded.starting_points],
            fed=any(source.polls for source in read.sources.values()),
        ),
        "sandbox": lambda: machine.check_sandbox(settings, robot, clock, home.run / "doctor-probe"),
        "browser": lambda: browsing.check_browser(settings, read.sources, clock),
    }
    return [finding for name in CHECKS if name in only for finding in _looked(name, looks[name])]


def _looked(name: str, look: Callable[[], Iterator[Finding]]) -> list[Finding]:
    found: list[Finding] = []
    try:
        found.extend(look())
    except IngatherError as trouble:
        found.append(error(name, trouble.text, trouble.hint or "look at its log"))
    except OSError as trouble:
        why = f"{trouble.filename}: {trouble.strerror}" if trouble.filename else str(trouble)
        found.append(error(name, f"it could not be looked at: {why}", "give this user access to it"))
    return found


def _configuration(read: Configuration) -> Iterator[Finding]:
    errors = [one for one in read.diagnostics if one.is_error]
    others = len(read.diagnostics) - len(errors)
    if errors:
        yield error(
            "configuration",
            f"{len(errors)} mistakes; the first: {errors[0]}",
            "see all with: ingather config check",
        )
    elif others:
        yield warning(
            "configuration",
            f"{others} remarks; the first: {read.diagnostics[0]}",
            "see all with: ingather config check",
        )
    else:
        yield fine("configuration", f"{len(read.loaded.rules.sites)} sites, no mistakes")


def _hosts(read: Configuration) -> list[str]:
    return [split(start.url).host for site in read.loaded.rules.sites for start in site.starts]
