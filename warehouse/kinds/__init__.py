"""One declaration per kind of work, and how its units become rows."""
