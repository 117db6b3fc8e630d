"""Stores beside the lake: caches, transcripts and budgets."""
