"""What a report means: the next state of its URL, deletions, hints; many reports become one transaction."""
