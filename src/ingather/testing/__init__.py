"""The testing kit: what our tests stand on, shipped for the tests of others. Needs no pytest.

A test's journey through the files: time comes from a clock that stands still until told
(``clock``); the network is a synthetic web derived from a seed (``web``, shaped by ``webshape``, its
words from ``prose``), which a test meets without sockets (``fetcher``), over real HTTP in a thread
(``server``, one request at a time in ``connection``) or in another process (``process``,
``python -m ingather.testing.web``). What a crawler should have found is computed from the same seed
(``reach``); whether it was polite is judged from what really happened (``oracle``).

``adaptor`` serves documents whose rights stand in the heads of its answers.

Where the network is hostile, every fault has a name (``faults`` is the server, ``misbehaviour`` and
``robotsfaults`` what it does wrong on each ``exchange``, ``hostile`` the bytes that mean harm).

Configurations by the dice, all valid, come from ``configurations``.

Whoever writes an adapter lets it pass the port's suite (``contracts``). The scheduler is tried
without any network at all, in simulated time (``simulation``), and so are the rules of feed sources
(``syndicated``). What runs in processes of their own
stands in ``jobs``.

Nothing is imported here: a child process pays for what it imports. Import from the files::

    from ingather.testing.server import SyntheticServer
"""

__all__: list[str] = []
