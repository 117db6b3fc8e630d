"""Novelty of an idea compared with related works: a score from 1 to 5 and its calibration."""
