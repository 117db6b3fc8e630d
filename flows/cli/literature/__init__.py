"""Commands that query the literature."""
