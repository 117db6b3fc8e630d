"""Idea files in: parsing, validation, duplicates."""
