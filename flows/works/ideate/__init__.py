"""Ideation in rounds."""
