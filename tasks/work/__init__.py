"""Declaration of kinds of work, and tools for their units."""
