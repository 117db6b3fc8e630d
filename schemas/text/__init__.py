"""Untrusted text: patterns in linear time, and files of folders that others made."""
