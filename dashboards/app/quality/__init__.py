"""Parts of the page Data quality, one question each."""
