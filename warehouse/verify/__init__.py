"""Verification of a published lake."""
