"""HTTP and MCP services over `flows/api/service.py`."""
