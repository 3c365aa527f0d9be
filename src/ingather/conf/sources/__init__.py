"""``[source.NAME]``: what is gathered as whose, how its hosts are reached, when it is looked at again."""
