"""Files of drafts: figures, PDF, Word, HTML and LaTeX from one source."""
