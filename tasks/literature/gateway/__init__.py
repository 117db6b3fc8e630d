"""The one process that talks to the literature: a Semantic Scholar API in front of the live one or
of a snapshot.
"""
