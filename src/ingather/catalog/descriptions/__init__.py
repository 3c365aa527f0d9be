"""Descriptions that people bring, read in bulk, and what is laid over them."""
