"""Contribution of an idea, dimension by dimension (ScholarEval §2.2)."""
