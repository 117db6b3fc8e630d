"""Metrics from the literature, their uncertainty, and tests of differences.

Plain functions, without an engine.
"""
