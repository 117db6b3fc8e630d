"""Novelty of an idea compared with related works, scored and calibrated."""
