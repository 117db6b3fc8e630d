"""Edits of curated sets of rated ideas."""
