"""Batch providers, one module per API."""
