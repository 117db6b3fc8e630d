"""Reports in other formats; each library is imported at first use."""
