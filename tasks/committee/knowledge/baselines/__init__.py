"""Deterministic answers to the knowledge steps: classic text processing over the same input."""
