"""Backups of a home, taken while it runs, and their way back into an empty one.

A backup is a folder: ``backup.json`` (the manifest: every file with size, SHA-256 and mode) and ``home/``, laid out as a home.
It has the catalog of one moment, the segments of bodies up to what that catalog acknowledges, pushed feeds, configuration
and secrets with their modes. It has no index, which is made from the catalog, no logs and nothing of the running process.

``manifest`` reads and writes the manifest, ``copying`` copies and re-reads files, ``taking`` makes a backup, ``restoring`` a home of one.
"""

from ingather.app.backup.restoring import Restored, check_backup, restore
from ingather.app.backup.taking import Taken, take_backup

__all__ = ["Restored", "Taken", "check_backup", "restore", "take_backup"]
