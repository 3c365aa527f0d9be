"""Feeds and sitemaps of others in a home: ``checking`` shows one as it is understood, in a process that can do nothing else."""
