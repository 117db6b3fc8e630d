"""Command line, HTTP and MCP services, jobs, and the execution of runs."""
