"""Contribution of an idea to the literature, by dimension (ScholarEval §2.2)."""
