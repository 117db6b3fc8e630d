"""One folder per kind of work: its request, estimate and campaign."""
