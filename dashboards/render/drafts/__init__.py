"""Drafts as files: figures drawn, and one source compiled to PDF, Word, HTML and LaTeX."""
