"""Who may see what: ``people`` and their ``accounts`` (``passwords``, ``oidc``, ``directory``), their ``groups``, the rules of ``policing``.

``accessing`` answers who may see a document, and why.
"""
