"""Figures of a draft: drawn, looked at as they will be printed, and mended by declared rules."""
