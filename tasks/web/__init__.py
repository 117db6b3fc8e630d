"""HTTP exchanges: one client, bounded answers, limits and retries."""
