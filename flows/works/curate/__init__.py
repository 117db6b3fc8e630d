"""Curation of papers with their reviews."""
