"""What is wrong, missing or twice in a snapshot: found by rules in SQL, mended by proposal."""
