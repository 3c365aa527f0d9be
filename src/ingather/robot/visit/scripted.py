"""Whether a page needs its scripts to be read: decided by what came, before a browser costs anything."""

import re
from dataclasses import dataclass

from ingather.extract.page import is_html
from ingather.model.page import Page

__all__ = ["MODES", "Decided", "decide"]

MODES = ("off", "auto", "always")

_LOOKED_AT = 1 << 20
_TINY, _LITTLE = 50, 500
"""Characters of text below which scripts must make the rest; below which a page is believed that says so."""
_SCRIPT = re.compile(rb"<script(?=[\s>])([^>]{0,2000})>", re.IGNORECASE)
_DATA = re.compile(
    rb"type\s*=\s*[\"']?(?:application/(?:ld\+)?json|text/(?:template|x-template|html)|speculationrules|importmap)",
    re.IGNORECASE,
)
_ROOT = re.compile(
    rb"<(?:div|main|section|body)\s[^>]{0,300}?\bid\s*=\s*[\"']?(?:root|app|__next|__nuxt|q-app|svelte|application|app-root|main-app|react-root)"
    rb"[\"']?(?=[\s>])[^>]{0,300}>\s{0,200}(?:<!--[^>]{0,200}-->\s{0,200})?</",
    re.IGNORECASE,
)
_OWN_ROOT = re.compile(rb"<(?:app-root|my-app|app-main)(?:\s[^>]{0,300})?>\s{0,200}</", re.IGNORECASE)
_NOSCRIPT = re.compile(rb"<noscript[^>]{0,200}>([^\0]{0,2000}?)</noscript", re.IGNORECASE)
_SCRIPT_LINK = re.compile(rb"<a\s[^>]{0,500}?href\s*=\s*[\"']?(?:javascript:|#[\"'\s>])", re.IGNORECASE)
_FEW_LINKS = 3


@dataclass(frozen=True, slots=True)
class Decided:
    """Whether a page is rendered, and why (a word for flags and explain)."""

    render: bool
    reason: str


def decide(mode: str, page: Page, body: bytes) -> Decided:  # noqa: PLR0911 - one a reason, in order of strength
    """Decide about *page*, which was read from *body*.

    Reasons for it: ``rule`` (the source says ``always``), ``empty-root`` (the element where frameworks put their page is empty),
    ``asks-for-scripts`` (a notice for browsers without), ``no-text``, ``script-links`` (it has links for scripts alone). Reasons against it:
    ``off``, ``not-html``, ``no-scripts``, ``robots`` (it wants neither to be shown nor followed), ``has-text``.
    """
    if mode not in MODES or mode == "off":
        return Decided(render=False, reason="off")
    if not is_html(page.media_type):
        return Decided(render=False, reason="not-html")
    if {"noindex", "nofollow"} <= page.robots:
        return Decided(render=False, reason="robots")
    head = body[:_LOOKED_AT]
    if not any(not _DATA.search(found[1]) for found in _SCRIPT.finditer(head)):
        return Decided(render=False, reason="no-scripts")
    if mode == "always":
        return Decided(render=True, reason="rule")
    size = len(page.text)
    if size < _LITTLE and (_ROOT.search(head) or _OWN_ROOT.search(head)):
        return Decided(render=True, reason="empty-root")
    if size < _LITTLE and any(b"javascript" in found[1].lower() for found in _NOSCRIPT.finditer(head)):
        return Decided(render=True, reason="asks-for-scripts")
    if size < _TINY:
        return Decided(render=True, reason="no-text")
    if not page.links and len(_SCRIPT_LINK.findall(head)) >= _FEW_LINKS:
        return Decided(render=True, reason="script-links")
    return Decided(render=False, reason="has-text")
