"""Parts of the page Cost and latency, one question each."""
