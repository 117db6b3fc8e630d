"""Benchmarks: landed, validated, published and read."""
