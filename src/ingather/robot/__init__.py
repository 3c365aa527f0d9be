"""Gathering: a URL's journey from the frontier to a committed description, and who watches over it.

1. *Waiting* (``frontier/``). A discovered URL is a waiting row of the catalog. ``hold`` reads ahead and ``allotment`` says
   which hosts' batches go to which gatherer; a host is never in two hands.
2. *Claimed.* The keeper's ``lending`` sends claims with the hosts' state over a Unix socket (``wire``).
   A claim lives in memory only: whoever dies, the row waits again.
3. *Its turn* (``politeness/``). In the ``gatherer`` the ``schedule`` waits for the host's clock (``hosts``), the
   ``hostbook`` for its robots.txt, the keeper's address book (``addresses``) for the address. What its source has no way for
   (a dead proxy) the ``waygate`` hands back before the host's clock hears of it.
4. *Visited* (``visit/``). ``pipeline`` tells the steps: judge, fetch, classify, read (``reading``, with
   converters for what is hostile or heavy), filter, follow links (``outlinks``; ``seen`` knows most of them,
   ``discovering`` judges the rest), describe, store. ``answering`` has the answers without a body. Visits that were asked for
   (``asked``, with ``listed`` limits) follow redirects (``hopping``, ``turns``), and feeds end in a poll (``polling``).
5. *Reported and settled* (``settling/``). Reports gather in the ``intake``; ``settle`` decides purely what becomes of the row
   (``backoff``, ``recheck``, with what ``remembering`` knows of the page and how far ``hints`` are believed; quiet hosts: ``sampling``);
   ``committing`` makes reports one transaction and asks ``deletion`` about proposals.
6. *Told* (``indexing/``). After the commit the ``keeper`` tells: the gatherer hears "kept", the frontier new work, the logs (``logs/``)
   a line, and ``following`` the changes (``pace`` says when they are committed, ``flip`` what is to be shown as a whole), which become documents (``documents``) with what is laid over them (``laying``). When all is
   quiet ``linkpass`` derives who links where, ``likeness`` and ``canonicals`` what stands for what; traps (``traps/``) are looked for now and then.

What stands in no folder is processes and what they say to each other: ``supervising`` spawns gatherers, reads their shared ``slot``
and buries the dead (``mourning``), ``staffing`` dismisses them in order, ``outbox`` sends their reports; ``commandport`` and ``running``
are for who controls the robot; ``timeguard`` says whether the wall clock may be trusted with what expires.
"""
