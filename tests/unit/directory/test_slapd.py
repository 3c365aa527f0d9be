"""The directory against OpenLDAP's own server, where it is installed."""

import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.app.access.directory.filters import parse_filter
from ingather.app.access.directory.people import Directory, DirectoryConf
from ingather.app.access.directory.wire import Server
from ingather.errors import DirectoryError
from ingather.testing.company import talk
from ingather.testing.running import wait_until

SLAPD = shutil.which("slapd", path="/usr/sbin:/usr/local/sbin:/usr/libexec:/usr/bin")
SLAPADD = shutil.which("slapadd", path="/usr/sbin:/usr/local/sbin:/usr/bin")
SCHEMA, MODULES = Path("/etc/ldap/schema"), Path("/usr/lib/ldap")
BASE = "dc=corp,dc=example"
RIGHT = "Grüße, joe"

pytestmark = pytest.mark.skipif(
    SLAPD is None or SLAPADD is None or not (SCHEMA / "inetorgperson.schema").exists(),
    reason="slapd is not there (apt-get install slapd)",
)

CONFIG = """\
include {schema}/core.schema
include {schema}/cosine.schema
include {schema}/nis.schema
include {schema}/inetorgperson.schema
pidfile {folder}/pid
modulepath {modules}
moduleload back_mdb
moduleload memberof
TLSCertificateFile {certificate}
TLSCertificateKeyFile {key}
sizelimit size.soft=3 size.hard=3 size.prtotal=unlimited
database mdb
directory {folder}/data
maxsize 16777216
suffix "{base}"
rootdn "cn=root,{base}"
rootpw root-secret
overlay memberof
memberof-group-oc groupOfNames
memberof-member-ad member
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="cn=reader,{base}" read by * auth
"""

TREE = """\
dn: {base}
objectClass: dcObject
objectClass: organization
o: corp

dn: ou=groups,{base}
objectClass: organizationalUnit

dn: cn=reader,{base}
objectClass: person
cn: reader
sn: reader
userPassword: reader-secret

dn: uid=joe\\2c (a*b),{base}
objectClass: inetOrgPerson
objectClass: posixAccount
cn: Joe
sn: Joe
uid: Joe
uidNumber: 1000
gidNumber: 77
homeDirectory: /
userPassword: {right}
{member_of}

dn: uid=eve,{base}
objectClass: inetOrgPerson
cn: Eve
sn: Eve
uid: eve

dn: cn=unix,ou=groups,{base}
objectClass: posixGroup
gidNumber: 77

dn: cn=listed,ou=groups,{base}
objectClass: posixGroup
gidNumber: 78
memberUid: Joe

"""


DIRECT = ["eng", *(f"g{n}" for n in range(12)), "Größe"]
ABOVE = {"eng": ["staff"], "staff": ["all"], "all": ["staff"]}


def group(name: str) -> str:
    return f"cn={name},ou=groups,{BASE}"


def tree(right: str) -> str:
    """Return the company, with a chain of groups that ends in a circle, and a dozen others.

    What the overlay would derive is written down: slapadd does not run it.
    """
    joe = f"uid=joe\\2c (a*b),{BASE}"
    made = TREE.format(
        base=BASE, right=right, member_of="\n".join(f"memberOf: {group(name)}" for name in DIRECT)
    )
    for name in dict.fromkeys([*DIRECT, *ABOVE]):
        lines = [f"dn: {group(name)}", "objectClass: groupOfNames", f"cn: {name}"]
        lines += [f"member: {joe}"] if name in DIRECT else []
        lines += [f"member: {group(below)}" for below, above in ABOVE.items() if name in above]
        lines += [f"memberOf: {group(above)}" for above in ABOVE.get(name, ())]
        made += "\n".join(lines) + "\n\n"
    return made


GROUPS = {*DIRECT, *ABOVE, "unix", "listed"}


@pytest.fixture(scope="module")
def slapd(
    tmp_path_factory: pytest.TempPathFactory, tls: tuple[ssl.SSLContext, Path]
) -> Iterator[tuple[int, int, Path]]:
    """Ports for ldap and ldaps, and the file that makes its certificate trusted."""
    folder, certificate = tmp_path_factory.mktemp("slapd"), tls[1]
    (folder / "data").mkdir()
    config = folder / "slapd.conf"
    key = certificate.with_name("certificate-key.pem")
    config.write_text(
        CONFIG.format(
            schema=SCHEMA, modules=MODULES, folder=folder, certificate=certificate, key=key, base=BASE
        )
    )
    (folder / "tree.ldif").write_text(tree(RIGHT))
    added = subprocess.run(
        [str(SLAPADD), "-f", config, "-l", folder / "tree.ldif"], capture_output=True, text=True, timeout=60, check=False
    )  # fmt: skip
    assert added.returncode == 0, added.stderr
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        ports = one.getsockname()[1], two.getsockname()[1]
    urls = f"ldap://127.0.0.1:{ports[0]}/ ldaps://127.0.0.1:{ports[1]}/"
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            [str(SLAPD), "-f", config, "-h", urls, "-d", "0"], stdout=said, stderr=said, stdin=subprocess.DEVNULL
        )  # fmt: skip
        try:
            wait_until(lambda: all(_listens(port) for port in ports) or process.poll() is not None)
            assert process.poll() is None, (folder / "said").read_text()
            yield ports[0], ports[1], certificate
        finally:
            process.terminate()
            process.wait(30)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def directory(
    slapd: tuple[int, int, Path], *, ldaps: bool = True, trusted: bool = True, **more: object
) -> Directory:
    conf = DirectoryConf(
        (Server("127.0.0.1", slapd[1] if ldaps else slapd[0], ldaps),), BASE, f"cn=reader,{BASE}", "reader-secret", **more  # type: ignore[arg-type]
    )  # fmt: skip
    return Directory(conf, talk(trusted=slapd[2] if trusted else None, start_tls=not ldaps, page=3))


@pytest.mark.parametrize("ldaps", [True, False])
def test_all_groups_of_a_person_come_over_tls_in_pages(slapd: tuple[int, int, Path], *, ldaps: bool) -> None:
    found = directory(slapd, ldaps=ldaps).find("joe")
    assert found is not None
    assert found.name == "Joe"
    assert set(found.groups) == GROUPS


def test_groups_are_found_by_member_of_as_well(slapd: tuple[int, int, Path]) -> None:
    found = directory(slapd, groups="memberof").find("joe")
    assert found is not None
    assert set(found.groups) == GROUPS


def test_people_log_in_with_their_passwords(slapd: tuple[int, int, Path]) -> None:
    known = directory(slapd)
    assert known.log_in("JOE", RIGHT) == "Joe"
    for name, password in (
        ("joe", "wrong"),
        ("joe", ""),
        ("eve", "x"),
        ("nobody", RIGHT),
        ("j*", RIGHT),
        ("*", RIGHT),
    ):
        assert known.log_in(name, password) is None, name


def test_filters_narrow_people_and_groups(slapd: tuple[int, int, Path]) -> None:
    assert directory(slapd, user_filter=parse_filter("(objectClass=posixAccount)")).find("eve") is None
    found = directory(slapd, group_filter=parse_filter("(|(cn=e*)(cn=St*))")).find("joe")
    assert found is not None
    assert set(found.groups) == {"eng", "staff"}


def test_a_certificate_that_is_not_trusted_ends_it(slapd: tuple[int, int, Path]) -> None:
    for ldaps in (True, False):
        with pytest.raises(DirectoryError, match="certificate"):
            directory(slapd, ldaps=ldaps, trusted=False).log_in("joe", RIGHT)


def test_a_base_that_is_not_there_is_said(slapd: tuple[int, int, Path]) -> None:
    with pytest.raises(DirectoryError, match=r"\(32\)"):
        directory(slapd, group_base=f"ou=nowhere,{BASE}").find("joe")
