"""Nouns of judgements on ideas."""
