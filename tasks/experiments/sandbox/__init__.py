"""Sandboxes for programs that nobody vouches for."""
