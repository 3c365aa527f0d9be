"""The one truth: what is known of every URL, in one database and a folder of WARC segments.

A visit's journey through this room: a gatherer appends body and text to a WARC segment of its
own (``bodies/``; *the gatherer appends, the keeper only points*) and makes them durable. The
keeper's writer thread (``sqlite_writer``) then puts the settled visit into one transaction
(``sqlite_apply``): the URLs that the page links to become rows or meet the rows that are there
(``frontier/sqlite_discovery``, under the budgets of ``sqlite_budget``, with names as numbers from
``sqlite_names``); the page's own row takes the outcome, its description and links replace those
of the last visit; its digest enters a group of equal bodies, of which one is shown
(``likeness/sqlite_duplicates``); a change row tells the index (``sqlite_changes``).

Beside it stand the folders of what else becomes rows: ``frontier/`` what waits, ``deletion/`` what is to go and becomes a
tombstone or waits for a person, ``descriptions/`` what people bring in and lay over, ``access/`` who may see what and who may come in,
``feeds/`` what was pushed, ``syndication/`` what web feeds and sitemaps list, ``likeness/`` what is the same, ``reports/`` what is read of all of it.

What changes rarely, sources, configuration versions, runs, is the business of ``sqlite_registry``;
small values that must survive a restart lie in ``sqlite_memory``.

Everybody else reads on connections of
their own (``sqlite_reader`` is the port, ``sqlite_reader_more`` what index, explain and checks read beside
it; ``sqlite_rows`` turns the engine's errors into ours). The index follows the change log. In idle time
dead space of the segments is given back (``sqlite_places``).

``sqlite_open`` guards the SQLite version, sets and reads back the pragmas, runs the migrations of
``schema/``. ``statements`` names the SQL of ``queries.sql``; ``packing`` knows the small binary forms
inside rows; ``renewal`` moves the dates of descriptions that later visits confirmed.

Nothing is imported here: gatherers take ``bodies`` and ``packing`` alone, and pay for no database.
"""
