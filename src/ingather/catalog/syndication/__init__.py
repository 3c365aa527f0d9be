"""Web feeds and sitemaps: what they list, which documents they lead to, cycles and events."""
