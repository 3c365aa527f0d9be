"""Pushed feeds in the appliance's format: read, received, applied, accounted for.

A feed is spooled to disk byte by byte, gets a durable row in the catalog, and only then its sender
is told ``Success`` (:mod:`.desk`). The feed thread of the keeper applies it later, record by record.
"""
