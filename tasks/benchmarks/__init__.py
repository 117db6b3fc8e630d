"""Benchmarks: judges of reviews, baselines as systems, and readers of public data."""
