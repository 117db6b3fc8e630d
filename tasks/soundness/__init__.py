"""Support and contradiction of each method in the literature (ScholarEval §2.1)."""
