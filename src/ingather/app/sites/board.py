"""Sites and converters for the admin listener."""

import os
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from ingather.app.keeper import Gathering
from ingather.app.publishing import Published, take_over
from ingather.app.sites.converters import ConverterDesk
from ingather.app.sites.editing import Asked, Editing
from ingather.app.sites.fields import change_of, new_site_of, switch_of
from ingather.app.sites.sites import SiteDesk
from ingather.app.versions import staged
from ingather.conf.sites.siteedit import SiteChange
from ingather.log import get

__all__ = ["Ask", "ServedSites", "served_editing", "served_sites"]

_log = get("conf")

Ask = Callable[[Coroutine[Any, Any, Published]], Published]
"""Runs a coroutine on the keeper's loop, from any thread, and waits for it."""


class ServedSites:
    """Answers as JSON-ready dictionaries; called from several threads."""

    def __init__(self, editing: Editing) -> None:
        self._sites, self._converters = SiteDesk(editing), ConverterDesk(editing)

    def sites(self) -> Mapping[str, Any]:
        """Return all sites."""
        return self._sites.listed()

    def site(self, name: str) -> Mapping[str, Any]:
        """Return one site."""
        return self._sites.shown(name)

    def edit(
        self, verb: str, name: str, fields: Mapping[str, str], *, author: str, match: str
    ) -> Mapping[str, Any]:
        """Carry out ``add``, ``set``, ``enable``, ``disable`` or ``delete``."""
        asked = _asked(fields, author, match)
        if verb == "add":
            return self._sites.add(new_site_of(fields), asked)
        if verb == "delete":
            return self._sites.delete(name, asked)
        change = change_of(fields) if verb == "set" else SiteChange(enable=verb == "enable")
        return self._sites.change(name, change, asked)

    def converters(self, filter_: str) -> Mapping[str, Any]:
        """Return the converters of a filter."""
        return self._converters.listed(filter_)

    def switch(self, fields: Mapping[str, str], *, on: bool, author: str, match: str) -> Mapping[str, Any]:
        """Switch the conversion of the field ``type`` on or off."""
        asked = _asked(fields, author, match)
        return self._converters.switch(fields.get("type", ""), asked, on=on, filter_=fields.get("filter", ""))


def served_sites(gathering: Gathering, ask: Ask) -> ServedSites:
    """Return who answers under a running *gathering*."""
    return ServedSites(served_editing(gathering, ask))


def served_editing(gathering: Gathering, ask: Ask) -> Editing:
    """Return who edits the configuration of a running *gathering*."""

    def publish(
        files: Mapping[str, bytes], *, note: str, author: str, confirm: Callable[[Path], None], base: str
    ) -> Published:
        with staged(gathering.home, files) as stage:
            confirm(stage / "config")
            return ask(take_over(gathering, stage=stage.name, author=author, note=note, base=base))

    return Editing(gathering.home, publish, environment=os.environ)


def _asked(fields: Mapping[str, str], author: str, match: str) -> Asked:
    return Asked(
        author=author, note=fields.get("note", ""), match=match or fields.get("etag", "").strip('"'),
        yes=switch_of(fields, "yes"), dry_run=switch_of(fields, "dry-run"), tell=_log.info,
    )  # fmt: skip
