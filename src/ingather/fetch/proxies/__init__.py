"""Which way a request goes: directly, or through a proxy.

``address`` reads what names a proxy, ``bypass`` lists of hosts that need none, ``environment`` the variables. ``rules`` puts them in their
order, ``pac_script`` runs a PAC file (in a process of its own), ``pac_file`` fetches and keeps one, ``pac`` asks it. ``routing`` takes
the ways one after the other; ``hop`` is one of them, as :mod:`ingather.fetch.http` takes it.
"""
