"""Why a URL gets what it gets: the chain of lines, and which line won each class."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ingather.overlay.prefix import key_of

if TYPE_CHECKING:
    from ingather.overlay.laid import Overlay

__all__ = ["ClassStory", "Explanation", "Step", "explain", "terms"]

_WORDS: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Step:
    """One record of the chain.

    Attributes:
        file, line: where it stands.
        prefix: its canonical prefix.
        exact: a default page was stripped of it.
        own: what it says itself; no values = it clears the class.
    """

    file: str
    line: int
    prefix: str
    exact: bool
    own: Mapping[str, tuple[str, ...]]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.prefix}{' (this page alone)' if self.exact else ''}"


@dataclass(frozen=True, slots=True)
class ClassStory:
    """What became of one class.

    Attributes:
        name: the class.
        values: in effect; ``()`` = cleared.
        won: the step that says so.
        overrode: steps that said something else, the nearest first.
    """

    name: str
    values: tuple[str, ...]
    won: Step
    overrode: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer for one URL; prints as some lines of text.

    Attributes:
        url: as it was asked.
        canonical: its key form, ``""`` if it is no URL.
        stripped: that without a default page; what prefixes are compared with.
        chain: the records that speak for it, the least specific first.
        classes: every class that one of them names, in order of the first mention.
        terms: the original's index terms, as ``act_w``.
        refused: the file has an error and no record of it applies.
    """

    url: str
    canonical: str
    stripped: str
    chain: tuple[Step, ...] = ()
    classes: tuple[ClassStory, ...] = ()
    terms: tuple[str, ...] = ()
    refused: bool = False

    @property
    def values(self) -> dict[str, tuple[str, ...]]:
        """What ``lookup`` gives."""
        return {story.name: story.values for story in self.classes if story.values}

    def __str__(self) -> str:
        if not self.canonical:
            return f"{self.url} is not the URL of a document"
        lines = [self.canonical]
        if self.stripped != self.canonical:
            lines.append(f"  without its default page: {self.stripped}")
        if self.refused:
            lines.append("  the file has an error, and none of its lines applies")
        if not self.chain:
            lines.append("  no line speaks for it")
        lines += [f"  {step}" for step in self.chain]
        for story in self.classes:
            said = " | ".join(story.values) if story.values else "(cleared)"
            lines.append(f"  {story.name} = {said}, by line {story.won.line}")
            lines += [
                f"      instead of {' | '.join(step.own[story.name]) or '(cleared)'}, line {step.line}"
                for step in story.overrode
            ]
        if self.terms:
            lines.append(f"  terms: {' '.join(self.terms)}")
        return "\n".join(lines)


def explain(url: str, overlay: "Overlay") -> Explanation:
    """Return which lines of *overlay* speak for *url*, and which line won each class."""
    keys = key_of(url, overlay.options)
    if keys is None:
        return Explanation(url, "", "", refused=overlay.refused)
    chain = tuple(
        Step(overlay.name, overlay.line(number), *overlay.key(number), overlay.own(number))
        for number in overlay.chain(keys[1])
    )
    stories = []
    for name in dict.fromkeys(name for step in chain for name in step.own):
        speaking = [step for step in reversed(chain) if name in step.own]
        stories.append(ClassStory(name, speaking[0].own[name], speaking[0], tuple(speaking[1:])))
    values = {story.name: story.values for story in stories if story.values}
    return Explanation(url, *keys, chain, tuple(stories), terms(values), overlay.refused)


def terms(values: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return values as the original's index terms: each word in lower case, ``_`` and its class.

    ``w=ACT`` gives ``act_w``; the class keeps its case, because ``x`` and ``X`` are two.
    """
    return tuple(
        f"{word.casefold()}_{name}"
        for name, of_class in values.items()
        for value in of_class
        for word in _WORDS.findall(value)
    )
