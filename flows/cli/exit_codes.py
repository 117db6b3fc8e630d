"""What a command's exit code says."""

EXIT_DONE = 0
EXIT_FAILURES = 1
EXIT_USAGE = 2
EXIT_BUDGET = 3
EXIT_WAITING = 4
"""People are asked, and the same command goes on once they have answered."""
EXIT_INTERRUPTED = 130
"""As shells say of a command that Ctrl-C ended."""
