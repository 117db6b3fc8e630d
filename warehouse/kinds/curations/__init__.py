"""Curated sets of rated ideas: how they land, and what readers ask about them."""
