"""filter.conf: directives typed and checked, the functions they may call, a filter as prose."""
