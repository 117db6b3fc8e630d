"""Rendering of pages: Markdown, HTML, other formats and charts."""
