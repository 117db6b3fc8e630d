"""Sentence embeddings, cached by text hash."""
