"""Crawler traps: found by the shape of their URLs, each with the rule that would stop it. Pure."""
