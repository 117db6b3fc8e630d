"""The SQL console: one SELECT over the lake, and nothing else of the machine."""
