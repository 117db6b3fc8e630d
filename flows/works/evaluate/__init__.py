"""Evaluation of ideas."""
