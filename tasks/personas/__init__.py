"""Who judges ideas, and along which dimensions: files that ship, or a user's own."""
