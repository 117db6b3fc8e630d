"""Ranking of evaluated ideas."""
