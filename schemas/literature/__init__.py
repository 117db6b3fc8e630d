"""Nouns of the literature: papers, their states and dates, surveys of them."""
