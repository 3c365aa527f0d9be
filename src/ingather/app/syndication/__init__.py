"""Feeds and sitemaps that sites publish, in a home.

Gathering: ``sources`` and ``reconciling`` bring the settings to the catalog, ``rounds`` is the timer and ``cycling`` its steps, ``desk``
takes visits and polls to the decider (``book``, ``items``, ``records`` translate) and ``carrying`` carries out what it rules.

People and programs: ``reading`` answers what they ask (``viewing`` has the forms, ``metering`` the figures), ``office`` and ``acting`` poll,
pause and resume, ``subscribing`` adds feeds (``probing`` looks at a URL, ``checking`` reads a document in a process that can do nothing
else, ``adding`` and ``opml`` write the settings and lists of feeds).
"""
