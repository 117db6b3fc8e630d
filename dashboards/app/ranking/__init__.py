"""Parts of the ranking page."""
