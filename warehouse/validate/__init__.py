"""Validation of landed rows: expectations of nouns, rules in SQL, their results."""
