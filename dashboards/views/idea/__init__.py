"""Parts of the page on one idea."""
