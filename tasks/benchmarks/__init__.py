"""What benchmarks ask: judges of reviews, baselines as systems, and the readers of their data."""
