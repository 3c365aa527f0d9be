"""One URL's journey inside a gatherer, from claim to report; :mod:`.pipeline` is the way through."""
