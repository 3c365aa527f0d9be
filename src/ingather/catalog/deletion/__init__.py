"""Deletions as rows: evidence, holds, tombstones, undoing."""
