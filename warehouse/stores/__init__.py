"""Stores outside the lake: caches, transcripts and budgets."""
