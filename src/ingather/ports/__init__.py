"""The seams: one Protocol a file, its docstring is the contract.

``clock`` tells the time, ``resolver`` names addresses, ``fetcher`` asks for resources,
``isolation`` runs a named job where it may die, ``renderer`` runs a page's scripts, ``catalog`` is the one truth as its readers
see it, ``index`` finds documents. Only ``app`` knows which concrete class stands behind each.
"""
