"""Running of work: campaigns, clusters, gateways, progress and interruption."""
