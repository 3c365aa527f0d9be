"""Pushed feeds: their rows, their receipts, and the sources as they stand."""
