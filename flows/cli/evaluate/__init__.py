"""Commands that evaluate ideas, rank them, and show the results."""
