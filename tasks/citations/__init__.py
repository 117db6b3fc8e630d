"""Citations by key: an engine cites what it was shown, and the renderer turns keys into
references.
"""
