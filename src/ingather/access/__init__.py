"""Access rights: which documents a searcher may see, told to the index as chains.

The journey of a document's rights: its source says how open it is and ``publicity`` turns
that into an access chain id when the document is described (1 = everybody, 0 = nobody).
The journey of a viewer's rights: ``visible`` holds, for one viewer and one state of the
rights, the set of chains whose documents may be shown; ``Visible.form`` is the shape in
which that set enters every query as a filter, before score, facet, count or snippet.

Both ends fail closed: what is not known to be open is shown to nobody.
"""

from ingather.access.publicity import NOBODY, PUBLIC, chain_of
from ingather.access.visible import ANONYMOUS, Form, FormKind, Visible

__all__ = ["ANONYMOUS", "NOBODY", "PUBLIC", "Form", "FormKind", "Visible", "chain_of"]
