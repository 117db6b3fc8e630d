"""Searches, recommendations and audits of snapshots."""
