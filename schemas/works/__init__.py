"""Nouns of other kinds of work: curation, drafts, experiments, ideation, checks."""
