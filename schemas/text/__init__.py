"""Untrusted text: regular expressions in linear time, and files of untrusted folders."""
