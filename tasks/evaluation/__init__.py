"""Evaluation of single ideas and of shards of ideas."""
