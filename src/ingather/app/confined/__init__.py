"""Strangers' documents are read here: a ``pool`` of ``converter`` processes, each locked in by ``confinement``.

``process`` is one of them as the pool holds it, ``sandbox`` says what the kernel gave, ``summarizing`` runs programs of others.
"""
