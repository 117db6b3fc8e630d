"""The HTTP API: `flows/service.py` for programs that speak HTTP."""
