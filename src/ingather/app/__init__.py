"""The composition roots: settings become running parts, one file for each kind of process.

``home`` is the folder in which everything lies, ``homelock`` keeps a second process out of it,
``disk`` says whether there is room for more, ``configuration`` reads every file of it at once, ``wiring`` knows which
setting feeds which room (``sourcerules`` what a source says for itself), ``memory`` how a long-running process keeps house. Nothing else knows the concrete classes. ``keeper``, ``gatherer``, ``confined`` and ``rendering`` are the processes,
``crawling`` and ``serving`` (with ``listening``, ``served_operations``, ``housekeeping``) the two ways to run them, ``robot``
the commands over both; ``feeds``, ``syndication``, ``overlay``, ``descriptions``, ``access`` and ``rehearsal`` hold what a home
does beside gathering, ``reports``, ``traps``, ``alike``, ``watch``, ``doctor``, ``notices`` and ``backup`` what keeps it running, ``demo`` the demonstration.
"""
