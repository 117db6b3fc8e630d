"""Soundness: support for the plan's methods in the literature (ScholarEval §2.1)."""
