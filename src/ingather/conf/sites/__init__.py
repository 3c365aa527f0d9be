"""filterrules.conf: sites, starting points and rules; found by host, checked, edited in place."""
