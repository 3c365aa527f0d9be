"""Pushed feeds of a home: from the gate's spool to applied records.

``gate`` takes files in, each gets its row (``arriving``), ``office`` is where people and programs ask about them, ``thread`` takes the feeds of the
data sources by turns (``queues``) and applies batch by batch what the ``worker`` reads in a process of its own (``process`` holds it,
``asking`` makes sense of its deaths, ``groups`` does the same for memberships). ``serving`` puts them together under
``ingather serve``, ``local`` does without it, ``home`` says where and by which rules, ``sources`` and ``outlawing`` act
on what was pushed, ``checking`` reads a file without applying it, ``commands`` is ``ingather feed``.
"""
