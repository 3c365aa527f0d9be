"""Values that cross rooms: frozen, without behaviour that needs a clock, a disk or a network.

A URL (``url``) is met with its circumstances (``candidate``); asking for it gives a
``resource`` (response or failure); reading it gives a ``page``; judging it gives a
``verdict`` in a ``phase`` (reports group those that deny by ``exclusion``); what is kept of it is a ``description`` in layers; where it
stands is its ``lifecycle``; what readers of the catalog must follow is a ``change``.
What an operator wrote wrongly is a ``diagnostic``. Imports nothing of ours but errors and units.
"""
