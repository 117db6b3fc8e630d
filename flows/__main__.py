"""`python -m flows` is `assay`."""

from flows.command_line import main

main()
