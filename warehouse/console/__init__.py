"""SQL console: one SELECT over the lake, without access to the machine."""
