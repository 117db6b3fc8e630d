"""Validation of rows: expectations derived from nouns, SQL rules, results."""
