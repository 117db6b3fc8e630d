"""Runs of ideas: landed idea by idea, published whole."""
