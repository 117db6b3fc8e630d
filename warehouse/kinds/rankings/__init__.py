"""Rankings of a run, landed and published separately from it."""
