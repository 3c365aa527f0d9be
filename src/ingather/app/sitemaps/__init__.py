"""Sitemaps of sites: robots.txt, settings and indexes name them, polls read them, what they list is judged like any link.

``desk`` settles polls and hears what robots.txt names; ``rounds`` lets due ones be asked and takes entries in, in pieces; ``limits`` bounds them.
"""
