"""Idea files: read, validated, deduplicated."""
