"""Sources of papers, web pages and code in addition to the literature gateway.

`registry.SOURCES` lists them.
"""
