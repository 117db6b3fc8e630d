"""Pages on each kind of work, built from answers of the warehouse."""
