"""Databases: named parts of all descriptions, for who asks for a part (``url.part``)."""

from typing import Final

import apsw

__all__ = ["DEFAULT_DATABASE", "move"]

DEFAULT_DATABASE: Final = "default"
"""Where every description is that nobody put elsewhere."""


def move(cursor: apsw.Cursor, url_id: int, name: str) -> bool:
    """Put a description into database *name*, made if there is none; tell whether it was elsewhere. Inside a transaction."""
    part = None
    if name != DEFAULT_DATABASE:
        cursor.execute("insert into rd_database (name) values (?) on conflict do nothing", (name,))
        part = int(cursor.execute("select id from rd_database where name = ?", (name,)).get)
    cursor.execute("update url set part = ? where id = ? and part is not ?", (part, url_id, part))
    return cursor.connection.changes() > 0
