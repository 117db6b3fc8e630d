"""Reports in the formats of other programs; each library is imported when its format is asked for."""
