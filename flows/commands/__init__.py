"""One file per command of `assay`."""
