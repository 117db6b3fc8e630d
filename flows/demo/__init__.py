"""The bundled sample: ideas and summaries of papers, written for this project."""
