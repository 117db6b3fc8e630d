"""Bundled sample: ideas and paper summaries written for this project."""
