"""Audit of a snapshot: rules in SQL, and proposals for corrections."""
