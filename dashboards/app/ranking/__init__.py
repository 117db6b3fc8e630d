"""The parts of the ranking page."""
