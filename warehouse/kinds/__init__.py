"""Declarations of kinds of work, and their mapping to rows."""
