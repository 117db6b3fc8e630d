"""What every exchange over HTTP needs: one client, bounded answers, limits, one way to retry."""
