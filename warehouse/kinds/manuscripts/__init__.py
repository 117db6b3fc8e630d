"""Checks of manuscripts: landed, validated, published and read; the import of the quality checker's
release.
"""
