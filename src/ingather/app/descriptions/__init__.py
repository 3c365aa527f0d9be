"""Resource descriptions of a home as others read and write them: ``selecting``, ``files`` in and out, ``store`` for submit requests.

``rdm`` answers over HTTP with ``query`` and ``server``; ``schema`` is the RD schema, ``classifying`` tags what taxonomies ask for.
"""
