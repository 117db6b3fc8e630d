"""Shards of any kind of work: their files, and the isolation of their units."""
