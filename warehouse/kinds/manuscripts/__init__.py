"""Checks of manuscripts: summaries, and import of the quality checker's release."""
