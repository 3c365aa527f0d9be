"""The forms of a page, as far as filling one in needs them: action, method, fields with what stands in them."""

from contextlib import suppress
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

__all__ = ["PageForm", "forms_of"]

_MOST_FORMS: Final = 50
_MOST_FIELDS: Final = 500
_LONGEST: Final = 256 * 1024
_ALONE: Final = frozenset({"checkbox", "radio"})
_NEVER: Final = frozenset({"button", "reset", "image", "file"})


@dataclass(slots=True)
class PageForm:
    """One form; ``fields`` are what a browser would send, in their order, the first button included."""

    action: str = ""
    method: str = "get"
    fields: list[tuple[str, str]] = field(default_factory=list, repr=False)
    names: set[str] = field(default_factory=set)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.forms: list[PageForm] = []
        self._form: PageForm | None = None
        self._pressed = False
        self._select = ""
        self._chosen: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {key: value or "" for key, value in attrs}
        if tag == "form" and self._form is None and len(self.forms) < _MOST_FORMS:
            self._form = PageForm(told.get("action", "").strip(), told.get("method", "get").strip().lower())
            self._pressed = False
            self.forms.append(self._form)
        elif self._form is not None and len(self._form.names) < _MOST_FIELDS:
            self._field(tag, told)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        elif tag == "select" and self._form is not None and self._select:
            self._form.fields.append((self._select, self._chosen or ""))
            self._select = ""

    def _field(self, tag: str, told: dict[str, str]) -> None:
        form, name = self._form, told.get("name", "")
        if form is None or "disabled" in told:
            return
        kind = told.get("type", "submit" if tag == "button" else "text").lower()
        if tag in {"input", "button"} and name and kind not in _NEVER:
            form.names.add(name)
            if kind == "submit":
                if self._pressed:
                    return
                self._pressed = True
            elif kind in _ALONE and "checked" not in told:
                return
            form.fields.append((name, told.get("value", "on" if kind in _ALONE else "")))
        elif tag == "textarea" and name:
            form.names.add(name)
            form.fields.append((name, ""))
        elif tag == "select" and name:
            form.names.add(name)
            self._select, self._chosen = name, None
        elif tag == "option" and self._select and (self._chosen is None or "selected" in told):
            self._chosen = told.get("value", "")


def forms_of(body: bytes) -> list[PageForm]:
    """Return the forms of a page, at most 50 of its first 256 KiB."""
    reader = _Reader()
    with suppress(AssertionError):  # ``<![x[``: it reads no further
        reader.feed(body[:_LONGEST].decode("utf-8", "replace"))
    return reader.forms
