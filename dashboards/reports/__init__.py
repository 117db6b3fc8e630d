"""Reports on runs and ideas as Markdown and as self-contained HTML."""
