"""Snapshots: indexed papers on disk, read without loading them."""
