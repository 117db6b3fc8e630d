"""A snapshot: papers of a file, indexed for search, held on disk, read without loading them."""
