"""Mechanism of all kinds of work: the declaration, and the tools for its units."""
