"""Pages: what a reader sees of each kind of work, put together from the warehouse's answers."""
