"""Execution of runs: campaigns, clusters, gateways, progress and interruption."""
