"""Kinds of work: models, options, jobs and tables. Each module is discovered automatically."""
