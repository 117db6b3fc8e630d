"""Decisions and votes of people."""
