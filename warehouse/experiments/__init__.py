"""Experiments in the warehouse."""
