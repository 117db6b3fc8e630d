"""The parts of the first page."""
