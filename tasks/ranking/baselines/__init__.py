"""The extractive answers of the ranking module."""
