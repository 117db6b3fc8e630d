"""Full text: download, GROBID, PDF fallback, sections."""
