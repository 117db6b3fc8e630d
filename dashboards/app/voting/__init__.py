"""Parts of the page Vote."""
