"""Citations by key, which the renderer turns into references.

An engine can cite only what its prompt showed.
"""
