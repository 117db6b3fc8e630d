"""Ranking of ideas within groups (InnoEval, "Report Generation"; OmniScientist §5.2)."""
