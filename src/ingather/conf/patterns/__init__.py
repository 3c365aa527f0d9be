"""Patterns in three dialects, each translated for RE2."""
