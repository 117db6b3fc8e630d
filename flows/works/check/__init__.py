"""Check of manuscripts."""
