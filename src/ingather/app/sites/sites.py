"""Sites of filterrules.conf: listed, shown, added, changed, switched off and on, taken out."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ingather.app.sites.counting import documents_by_host, documents_of_sites, uncovered
from ingather.app.sites.editing import Asked, Edited, Editing, etag_of, mistakes_of
from ingather.conf import Loaded, Rules, Site
from ingather.conf.sites.newsite import NewSite, with_site
from ingather.conf.sites.siteconf import FILES
from ingather.conf.sites.siteedit import SiteChange, changed_site, find_site, without_site

__all__ = ["SiteDesk", "site_form"]

_FILE = "filterrules.conf"


def site_form(site: Site) -> dict[str, Any]:
    """Return a site as JSON shows it."""
    return {
        "name": site.name, "host": site.host or FILES, "type": "domain" if site.domain else "server", "enabled": site.enabled,
        "depth": site.depth, "source": site.source, "database": site.database, "delay": site.delay_s,
        "connections": site.connections, "credentials": site.credentials, "protocols": sorted(site.protocols),
        "ports": sorted(site.ports), "starts": [{"url": start.url, "depth": start.depth} for start in site.starts],
        "rules": None if site.use is None else list(site.use), "where": site.where,
    }  # fmt: skip


class SiteDesk:
    """What ``ingather site`` does; every answer is a JSON-ready dictionary. Called from several threads."""

    def __init__(self, editing: Editing) -> None:
        self._editing = editing

    def listed(self) -> dict[str, Any]:
        """Return the sites in the order of the file, with their documents, and how many starting points there are."""
        read = self._editing.read()
        loaded = read.loaded
        counted = documents_of_sites(documents_by_host(self._editing.home), loaded.rules.sites)
        return {
            "mistakes": mistakes_of(read),
            "etag": etag_of(loaded),
            "file": _file_of(loaded.rules),
            "starting_points": len(loaded.starting_points),
            "sites": [site_form(site) | {"documents": counted[site.name]} for site in loaded.rules.sites],
        }

    def shown(self, name: str) -> dict[str, Any]:
        """Return one site, by name or by host.

        Raises:
            UsageError: there is none.
        """
        loaded = self._editing.read().loaded
        site = find_site(loaded.rules, name)
        counted = documents_of_sites(documents_by_host(self._editing.home), loaded.rules.sites)
        return site_form(site) | {"documents": counted[site.name], "etag": etag_of(loaded)}

    def add(self, new: NewSite, asked: Asked) -> dict[str, Any]:
        """Write a site.

        Raises:
            UsageError: it cannot be, or is there already.
        """
        asked = replace(asked, note=asked.note or f"site {new.name or new.where} added")
        edited = self._edit(lambda body, file: with_site(body, new, file=file), asked)
        there = {site.name for site in edited.before.rules.sites}
        name = next((site.name for site in edited.after.rules.sites if site.name not in there), new.name)
        return self._answer(edited, name)

    def change(self, name: str, change: SiteChange, asked: Asked) -> dict[str, Any]:
        """Change a site, or switch it on or off."""
        what = "changed" if change.enable is None else "enabled" if change.enable else "disabled"
        note = asked.note or f"site {name} {what}"
        asked = replace(asked, note=note, harmless=change.judges_nothing)
        edited = self._edit(lambda body, file: changed_site(body, name, change, file=file), asked)
        return self._answer(edited, find_site(edited.before.rules, name).name)

    def delete(self, name: str, asked: Asked) -> dict[str, Any]:
        """Take a site out of the file. Its documents are visited, denied and judged by the deletion policy."""
        asked = replace(asked, note=asked.note or f"site {name} deleted")
        edited = self._edit(lambda body, file: without_site(body, name, file=file), asked)
        return self._answer(edited, find_site(edited.before.rules, name).name)

    def _edit(self, act: Callable[[bytes, str], bytes], asked: Asked) -> Edited:
        def change(loaded: Loaded) -> tuple[str, bytes]:
            file = _file_of(loaded.rules)
            return file, act(loaded.bodies.get(file, b""), file)

        return self._editing.edit(change, asked)

    def _answer(self, edited: Edited, name: str) -> dict[str, Any]:
        """Say what became of it: beside :meth:`Edited.form` the documents that the site had, and those that have no site any more."""
        counted = documents_by_host(self._editing.home)
        sites = edited.before.rules.sites
        lost = uncovered(counted, edited.after.rules.sites) - uncovered(counted, sites)
        had = documents_of_sites(counted, sites)[name]
        return {"site": name, "documents": had, "uncovered": max(lost, 0), **edited.form()}


def _file_of(rules: Rules) -> str:
    return rules.file or _FILE
