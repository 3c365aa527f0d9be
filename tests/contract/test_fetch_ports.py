"""The real fetcher, resolver and clock pass the suites that the kit ships."""

from ingather.fetch.dns import SystemResolver
from ingather.fetch.http import HttpFetcher
from ingather.fetch.limits import Limits
from ingather.ports.fetcher import Fetcher
from ingather.ports.resolver import Resolver
from ingather.testing.clock import FakeClock
from ingather.testing.contracts import FetcherContract, ResolverContract
from ingather.testing.web import SyntheticWeb


class TestHttpFetcher(FetcherContract):
    def make(self, web: SyntheticWeb) -> Fetcher:
        clock = FakeClock()
        return HttpFetcher(
            Limits(), user_agent="ingather-tests", email="", resolver=SystemResolver(clock), clock=clock
        )


class TestSystemResolver(ResolverContract):
    def make(self) -> Resolver:
        return SystemResolver(FakeClock())
