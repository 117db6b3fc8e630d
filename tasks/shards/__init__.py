"""Shards of any kind of work, and isolation of their units."""
