"""The lists of a configuration: follow.txt and donotfollow.txt, global and of one source; both levels must pass."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self

from ingather.conf.urlpatterns.lists import Crawled, Follow, PatternList
from ingather.model.diagnostic import Diagnostic
from ingather.model.source_name import BySource

__all__ = ["DONOTFOLLOW", "FOLLOW", "NO_GATES", "SOURCES", "Gates", "read_gates"]

FOLLOW: Final = "follow.txt"
DONOTFOLLOW: Final = "donotfollow.txt"
SOURCES: Final = "sources"
"""Folder of the configuration that holds a folder for each source."""


@dataclass(frozen=True, slots=True)
class Gates:
    """What stands before the MetaData phase; false if there is nothing.

    Attributes:
        everywhere: the global lists.
        of_source: the lists of a source, by its name, whose case does not matter.
        content_follows: Follow concerns what is pushed with its content, too, as on an appliance.
        content_follows_of: the same for single sources, by their names.
    """

    everywhere: Follow = field(default_factory=Follow)
    of_source: Mapping[str, Follow] = field(default_factory=BySource)
    content_follows: bool = False
    content_follows_of: Mapping[str, bool] = field(default_factory=BySource)

    def __bool__(self) -> bool:
        everywhere = self.everywhere
        return everywhere.follow is not None or everywhere.donotfollow is not None or bool(self.of_source)

    def binding_content(self, follows: bool, of_source: Mapping[str, bool]) -> Self:  # noqa: FBT001 - the switch itself
        """Return these lists with what the settings say of pushed content (``feeds.follow-patterns``)."""
        return replace(self, content_follows=follows, content_follows_of=BySource(of_source))

    def verdicts(self, url: str, source: str, *, content: bool = False) -> list[Crawled]:
        """Return what each level says of *url*, up to the first that refuses it.

        Args:
            url: canonical.
            source: who owns it.
            content: it is pushed with its content: Do Not Follow concerns it, Follow only where the settings say so.
        """
        exempt = content and not self.content_follows_of.get(source, self.content_follows)
        found = [self.everywhere.judge(url, exempt=exempt)]
        own = self.of_source.get(source)
        if found[0].passed and own is not None:
            found.append(own.judge(url, exempt=exempt))
        return found

    def refusal(self, url: str, source: str, *, content: bool = False) -> Crawled | None:
        """Return the verdict that refuses *url*, ``None`` if it passes."""
        last = self.verdicts(url, source, content=content)[-1]
        return None if last.passed else last


NO_GATES: Final = Gates()


def read_gates(
    names: Iterable[str],
    text_of: Callable[[str], str | None],
    told: Callable[[Diagnostic], None],
) -> Gates:
    """Read the lists.

    Args:
        names: of the files that there are: ``follow.txt``, ``sources/NAME/donotfollow.txt``.
        text_of: gives the text of a file, ``None`` after reporting why it cannot be read.
        told: gets each finding.
    """
    found: dict[str, dict[str, PatternList]] = {}
    for name in names:
        folder, _, kind = name.rpartition("/")
        # What cannot be read is reported, and the configuration is refused; until then nothing passes it.
        made, said = PatternList.parse(text_of(name) or "", name)
        for diagnostic in said:
            told(diagnostic)
        found.setdefault(folder.rpartition("/")[2], {})[kind] = made
    lists = {owner: Follow(of.get(FOLLOW), of.get(DONOTFOLLOW)) for owner, of in found.items()}
    return Gates(lists.pop("", Follow()), BySource(lists))
