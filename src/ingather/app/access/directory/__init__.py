"""People and groups of a directory (LDAP, Active Directory).

``ber`` and ``filters`` are the encoding, ``wire`` a connection, ``people`` the questions, ``known`` the answers with their
age, ``lookup`` what they mean for somebody who searches, ``setup`` the settings. We only read, and bind as people who log in; referrals are never followed, so that a
password reaches the configured servers alone.
"""

from ingather.app.access.directory.known import KnownPeople
from ingather.app.access.directory.lookup import GroupLookup
from ingather.app.access.directory.people import Directory, DirectoryConf, Known
from ingather.app.access.directory.setup import directory_of, people_of
from ingather.app.access.directory.trying import try_directory

__all__ = [
    "Directory",
    "DirectoryConf",
    "GroupLookup",
    "Known",
    "KnownPeople",
    "directory_of",
    "people_of",
    "try_directory",
]
