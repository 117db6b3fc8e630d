"""`python -m flows` is `assay`."""

from flows.cli.command_line import main

main()
