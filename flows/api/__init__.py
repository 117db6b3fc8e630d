"""The HTTP API: `flows/api/service.py` for programs that speak HTTP."""
