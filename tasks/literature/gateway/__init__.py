"""The literature gateway: a Semantic Scholar API in front of the live API or a snapshot."""
