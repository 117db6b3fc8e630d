"""Commands that ask the literature."""
