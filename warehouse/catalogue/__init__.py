"""Catalogues of lakes, in SQLite files or PostgreSQL."""
