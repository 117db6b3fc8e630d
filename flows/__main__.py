"""Entry point of `python -m flows`, the same as `assay`."""

from flows.cli.command_line import main

main()
