"""What shards of every kind share: the file they travel as, and how units end apart from each
other.
"""
