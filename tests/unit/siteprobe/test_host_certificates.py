"""Certificates of crawled hosts: seen by one handshake a day, told when their end is near."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from ingather.app.certificatedates import not_after
from ingather.app.certificatesseen import Seen, kept_certificates, near_ends
from ingather.app.doctor.homely import check_host_certificates
from ingather.app.home import Home
from ingather.app.keeper import Gathering
from ingather.app.robot.statefile import Kept, StateFile
from ingather.app.runplan import RunPlan
from ingather.app.watch.conditions import _certificates
from ingather.app.watch.hostcertificates import HostCertificates, HttpsHost, https_hosts, look_once
from ingather.conf import load_bodies
from ingather.fetch.egress import EgressGate
from ingather.fetch.knocking import Knocker, Shown
from ingather.model.scope import Scope
from ingather.testing.clock import FakeClock

DAY_S = 86_400.0
RULES = b"""<Site name="a" host="a.example" type=server>
Start url="https://a.example/"
Start url="https://a.example:8443/x"
Start url="http://a.example/"
</Site>
<Site name="b" host="b.example" type=server>
Start url="http://b.example/"
</Site>
<Site name="off" host="c.example" type=server enable=false>
Start url="https://c.example/"
</Site>
"""


class Loopback:
    async def resolve(self, _host: str) -> Sequence[str]:
        return ("127.0.0.1",)


def test_https_hosts_of_enabled_sites_are_looked_at() -> None:
    loaded = load_bodies({"filterrules.conf": RULES, "filter.conf": b"", "robot.conf": b""})
    assert [host.name for host in https_hosts(loaded.rules.sites)] == ["a.example", "a.example:8443"]


def test_one_handshake_a_day_and_the_end_is_told(home: Path, tls: Callable[..., tuple[int, Path]]) -> None:
    made, clock = Home.create(home), FakeClock()
    near, pem = tls("near.test", end=10)
    far, _ = tls("far.test", end=300)
    hosts = [
        HttpsHost("near.test", near, "web"),
        HttpsHost("far.test", far, "web"),
        HttpsHost("no.test", 9, "web"),
    ]
    knocker, asked = Knocker(EgressGate(Loopback(), ())), list[str]()
    scope = Scope(source="web", ports=frozenset(), addresses=("127.0.0.0/8",))

    async def show(host: HttpsHost) -> Shown:
        asked.append(host.name)
        return await knocker.certificate(host.host, host.port, scope, believe=False)

    look = HostCertificates(made.run, lambda: hosts, show, clock).look
    assert asyncio.run(look()) == 3
    assert asyncio.run(look()) == 0
    assert asked == [host.name for host in hosts]
    seen = kept_certificates(made.run)
    assert seen[f"near.test:{near}"].ends == not_after(pem)
    assert seen["no.test:9"].ends is None
    assert seen["no.test:9"].trouble
    now_s = not_after(pem) - 10 * DAY_S
    assert list(near_ends(made.run, now_s)) == [(f"near.test:{near}", not_after(pem))]
    assert [found.text for found in check_host_certificates(made)] == [
        f"the certificate of near.test:{near} ends in 10 days"
    ]
    clock.advance(DAY_S + 1)
    del hosts[0]
    assert asyncio.run(look()) == 2
    assert list(near_ends(made.run, now_s)) == []
    [fine] = check_host_certificates(made)
    assert "2 crawled hosts" in fine.text


def test_a_served_home_looks_through_the_gate_of_the_sites_source(
    home: Path, tls: Callable[..., tuple[int, Path]]
) -> None:
    port, pem = tls("localhost", end=10)
    made = Home.create(home)
    rules = made.config / "filterrules.conf"
    rules.write_text(
        f'{rules.read_text()}\n<Site name="a" host="localhost" type=server>\nStart url="https://localhost:{port}/"\n</Site>\n'
    )
    StateFile(made.path).write(Kept(state="off"))

    async def look(table: str) -> Seen:
        made.settings_file.write_text(table)
        read = made.settings(environment={})
        async with Gathering(made, read.settings, RunPlan(kind="serve", sources=read.sources)) as gathering:
            await look_once(gathering)
            [alarm, *_] = [*_certificates(gathering, gathering.clock.wall()), None]
            assert (alarm is None) == (kept_certificates(made.run)[f"localhost:{port}"].ends is None)
        return kept_certificates(made.run)[f"localhost:{port}"]

    refused = asyncio.run(look(""))
    assert refused.ends is None
    assert refused.trouble  # loopback is not for everybody
    (made.run / "host-certificates.json").unlink()
    seen = asyncio.run(look(f'[source.web]\naddresses = ["127.0.0.0/8", "::1"]\nports = [{port}]\n'))
    assert seen.ends == not_after(pem)


def test_what_was_kept_and_cannot_be_read_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "host-certificates.json").write_text("[")
    assert kept_certificates(tmp_path) == {}
