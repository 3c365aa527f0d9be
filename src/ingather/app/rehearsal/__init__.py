"""Before a configuration is published: ``simulating`` one URL, ``replaying`` everything that is stored, ``consent`` to what it costs.

A replay is a ``walk`` over the catalog; ``shape`` says what need not be read for it, ``differences`` counts what changed.
"""
