"""Sources beside the literature gateway, behind one interface: papers, web pages, code.

`registry.SOURCES` is the one list.
"""
