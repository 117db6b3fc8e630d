"""One idea from end to end, and a shard of ideas."""
