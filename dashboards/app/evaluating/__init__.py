"""Evaluating one idea from the page: a child process of its own, watched through files."""
