"""Reports in other formats; each library is imported when its format is asked for."""
