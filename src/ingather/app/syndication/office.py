"""Poll, pause, resume; and the feeds of a home for people and programs, altogether.

What changes something is a job in the one writer's transaction: done here when nobody owns the home, asked of its owner when somebody does.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ingather.app.clock import SystemClock
from ingather.app.home import Home
from ingather.app.jobs import Job
from ingather.app.operating import Operations
from ingather.app.syndication.acting import act_job
from ingather.app.syndication.reading import WebFeedBook
from ingather.app.syndication.subscribing import Subscribing
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.errors import UsageError

__all__ = ["HomeSyndication", "SyndicationOffice"]

Do = Callable[[str, Mapping[str, str] | None, Job], Any]
"""Does a job, or asks whoever owns the home: (path of the API, form, job)."""


class SyndicationOffice(WebFeedBook, Subscribing):
    """Web feeds of a home; what :class:`ingather.web.parts.RssBoard` promises. Any thread may ask.

    Args:
        home: whose; its catalog need not be there yet.
        sources: those of the settings.
        do: runs a job in a transaction, or has it run.
        now_s: wall time.
    """

    def __init__(
        self, home: Home, sources: Mapping[str, SourceConf], do: Do, now_s: Callable[[], float]
    ) -> None:
        WebFeedBook.__init__(self, home, sources, now_s)
        Subscribing.__init__(self, home)
        self._do = do

    def poll(self, target: str) -> dict[str, Any]:
        """Have a feed (number or URL), all feeds of a source, or (``all``) all feeds polled as soon as their hosts allow.

        Raises:
            UsageError: there is no such feed or source.
        """
        return self._act("poll", target)

    def pause(self, target: str) -> dict[str, Any]:
        """Stop polling: a feed, a source's feeds, all. Documents are looked after as if the feed were silent.

        Raises:
            UsageError: there is no such feed or source.
        """
        return self._act("pause", target)

    def resume(self, target: str) -> dict[str, Any]:
        """Poll again what was paused, or what its server called gone.

        Raises:
            UsageError: there is no such feed or source.
        """
        return self._act("resume", target)

    def _act(self, verb: str, target: str) -> dict[str, Any]:
        answer: dict[str, Any] = self._do(
            f"rss/{verb}", {"feed": target}, act_job(verb, self._targets(target))
        )
        return answer

    def _targets(self, target: str) -> dict[int, str]:
        with self.reading() as reader:
            if reader is None:
                raise UsageError(
                    "no feed was polled in this home so far", hint="start it with: ingather serve"
                )
            if target == "all" or target in {record.name for record in reader.sources()}:
                records = reader.feeds(source="" if target == "all" else target)
            else:
                one = self.record(reader, target)
                if one is None:
                    raise UsageError(
                        f"{target} was not met by a keeper so far", hint="start one: ingather serve"
                    )
                records = [one]
        return {record.row.id: record.row.name for record in records}


class HomeSyndication(Operations):
    """``ingather rss`` on a home that somebody may own."""

    def __init__(self, home: Home, settings: Settings, sources: Mapping[str, SourceConf]) -> None:
        super().__init__(home, settings, sources)
        self.office = SyndicationOffice(home, sources, self._do, SystemClock().wall)
