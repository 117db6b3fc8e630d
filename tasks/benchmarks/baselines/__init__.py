"""Deterministic answers of the extractive engine to the steps of the benchmarks."""
