"""Metrics from the literature, their uncertainty, and tests of the difference of two systems.

Plain functions, without an engine.
"""
