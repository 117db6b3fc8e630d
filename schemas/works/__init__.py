"""Kinds of work: nouns, options, jobs and tables; each is found by itself."""
